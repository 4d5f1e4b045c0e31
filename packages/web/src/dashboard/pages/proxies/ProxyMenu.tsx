import { useState } from 'react'
import type { Proxy } from '@berth/contracts/proxies'
import { useApi } from '../../api/context.ts'
import { Confirm } from '../../parts/Dialog.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { RenameDialog } from '../../parts/RenameDialog.tsx'
import { useAct } from '../../parts/use-act.ts'
import { titleOf } from './proxy.ts'
import { useCheck } from './use-check.ts'

export function ProxyMenu({ proxy, onDeleted }: { proxy: Proxy; onDeleted?: () => void }) {
  const { client, power } = useApi()
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const close = () => setOpen(undefined)
  const check = useCheck(proxy.id)
  const rename = useAct({
    run: (name: string) => client.proxies.update(proxy.id, { name }),
    changes: ['proxy'],
    isQuiet: true,
  })
  const remove = useAct({
    run: () => client.proxies.delete(proxy.id),
    done: 'The proxy is deleted',
    changes: ['proxy'],
    isQuiet: true,
    onDone: () => onDeleted?.(),
  })
  if (!power.can('proxies:write')) return null
  return (
    <>
      <Menu
        label={`Actions for ${titleOf(proxy)}`}
        items={[
          {
            text: 'Check',
            icon: 'refresh',
            isDisabled: check.isPending,
            onSelect: () => check.mutate(undefined),
          },
          { text: 'Rename', icon: 'settings', onSelect: () => setOpen('rename') },
          { text: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setOpen('delete') },
        ]}
      />
      {open === 'rename' && (
        <RenameDialog
          what="proxy"
          name={proxy.name ?? ''}
          onSend={(name) => rename.mutateAsync(name)}
          onClose={close}
        />
      )}
      <Confirm
        title={`Delete ${titleOf(proxy)}?`}
        text="Sessions can no longer choose it. It is refused while something uses it."
        action="Delete"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync()}
      />
    </>
  )
}
