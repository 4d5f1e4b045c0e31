// What one can do with a profile, in the list and on its page.
import { useState } from 'react'
import type { Profile } from '@berth/contracts/profiles'
import { useApi } from '../../api/context.ts'
import { Confirm } from '../../parts/Dialog.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { RenameDialog } from '../../parts/RenameDialog.tsx'
import { useAct } from '../../parts/use-act.ts'
import { titleOf } from './profile.ts'

export function ProfileMenu({ profile, onDeleted }: { profile: Profile; onDeleted?: () => void }) {
  const { client, power } = useApi()
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const close = () => setOpen(undefined)
  const rename = useAct({
    run: (name: string) => client.profiles.update(profile.id, { name }),
    changes: ['profile'],
    isQuiet: true,
  })
  const remove = useAct({
    run: () => client.profiles.delete(profile.id),
    done: 'The profile is deleted',
    changes: ['profile'],
    isQuiet: true,
    onDone: () => onDeleted?.(),
  })
  if (!power.can('profiles:write')) return null
  return (
    <>
      <Menu
        label={`Actions for ${titleOf(profile)}`}
        items={[
          { text: 'Rename', icon: 'settings', onSelect: () => setOpen('rename') },
          { text: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setOpen('delete') },
        ]}
      />
      {open === 'rename' && (
        <RenameDialog
          what="profile"
          name={profile.name ?? ''}
          onSend={(name) => rename.mutateAsync(name)}
          onClose={close}
        />
      )}
      <Confirm
        title={`Delete ${titleOf(profile)}?`}
        text="All its versions are deleted. Running sessions go on, but what they change is not saved."
        action="Delete"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync()}
      />
    </>
  )
}
