import { useState } from 'react'
import type { ApiKey, CreatedApiKey } from '@berth/contracts/api-keys'
import { useApi, useAsk } from '../../api/context.ts'
import { Confirm } from '../../parts/Dialog.tsx'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'
import { Menu } from '../../parts/Menu.tsx'
import { RenameDialog } from '../../parts/RenameDialog.tsx'
import { useAct } from '../../parts/use-act.ts'

const GRACE_DAYS = '7'

export interface KeyMenuProps {
  readonly apiKey: ApiKey
  /** Shows the new key. The page does it, because the row of the old key may be gone. */
  readonly onCreated: (created: CreatedApiKey) => void
}

export function KeyMenu({ apiKey, onCreated }: KeyMenuProps) {
  const { client, power } = useApi()
  const ask = useAsk()
  const [open, setOpen] = useState<'rename' | 'rotate' | 'delete'>()
  const close = () => setOpen(undefined)
  const path = `/org/api_keys/${encodeURIComponent(apiKey.id)}`
  const rename = useAct({
    run: (name: string) => client.apiKeys.update(apiKey.id, { name }),
    changes: ['api_key'],
    isQuiet: true,
  })
  const rotate = useAct({
    run: (body: object) => ask<CreatedApiKey>(`${path}/rotate`, { method: 'POST', body }),
    changes: ['api_key'],
    isQuiet: true,
    onDone: (answer) => {
      close()
      onCreated(answer)
    },
  })
  const remove = useAct({
    run: () => client.apiKeys.delete(apiKey.id),
    done: 'The key is deleted',
    changes: ['api_key'],
    isQuiet: true,
  })
  if (!power.can('api_keys:write') || apiKey.deleted_at !== null) return null
  const isOwn = apiKey.id === power.signIn.key.id
  return (
    <>
      <Menu
        label={`Actions for ${apiKey.name}`}
        items={[
          { text: 'Rename', icon: 'settings', onSelect: () => setOpen('rename') },
          { text: 'Replace', icon: 'refresh', onSelect: () => setOpen('rotate') },
          {
            text: isOwn ? 'Delete (you are signed in with it)' : 'Delete',
            icon: 'trash',
            isDanger: true,
            isDisabled: isOwn,
            onSelect: () => setOpen('delete'),
          },
        ]}
      />
      {open === 'rename' && (
        <RenameDialog
          what="key"
          name={apiKey.name}
          onSend={(name) => rename.mutateAsync(name)}
          onClose={close}
        />
      )}
      {open === 'rotate' && (
        <RotateKey apiKey={apiKey} onSend={(body) => rotate.mutateAsync(body)} onClose={close} />
      )}
      <Confirm
        title={`Delete the key ${apiKey.name}?`}
        text="It stops working at once, and so does every key that was made with it."
        action="Delete"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync()}
      />
    </>
  )
}

interface RotateKeyProps {
  readonly apiKey: ApiKey
  readonly onSend: (body: object) => Promise<unknown>
  readonly onClose: () => void
}

function RotateKey({ apiKey, onSend, onClose }: RotateKeyProps) {
  const [grace, setGrace] = useState(GRACE_DAYS)
  const [days, setDays] = useState('')
  return (
    <FormDialog
      title={`Replace the key ${apiKey.name}`}
      text="You get a new key that may do the same. The old one goes on for a while, so that programs can change over."
      action="Replace"
      onClose={onClose}
      onSend={() =>
        onSend({
          expire_in_days: Number(grace),
          ...(filled(days) !== undefined && { days_to_expire: Number(days) }),
        })
      }
    >
      <TextField
        name="expire_in_days"
        label="Days that the old key goes on"
        hint="0 ends it at once"
        type="number"
        min={0}
        max={3650}
        autoFocus
        value={grace}
        onChange={setGrace}
      />
      <TextField
        name="days_to_expire"
        label="Days until the new key ends"
        hint="Empty: as long as the old one was made for"
        type="number"
        min={1}
        max={3650}
        isOptional
        value={days}
        onChange={setDays}
      />
    </FormDialog>
  )
}
