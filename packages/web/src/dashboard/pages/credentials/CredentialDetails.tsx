import { useState } from 'react'
import type { Credential } from '@berth/contracts/credentials'
import { useApi } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Confirm, Dialog } from '../../parts/Dialog.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Facts } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { EditCredential } from './EditCredential.tsx'
import { OneTimeCode } from './OneTimeCode.tsx'
import { Passkeys } from './Passkeys.tsx'

export function CredentialDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const { client, power } = useApi()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const query = useOne<Credential>(['credential', id], (signal) =>
    client.credentials.retrieve(id, { signal }),
  )
  const { data: credential } = query
  const remove = useAct({
    run: () => client.credentials.delete(id),
    done: 'The credential is deleted',
    changes: ['credential'],
    isQuiet: true,
    onDone: onClose,
  })
  if (credential && open === 'edit') {
    return <EditCredential credential={credential} onClose={() => setOpen(undefined)} />
  }
  const canWrite = power.can('credentials:write')
  return (
    <Dialog title={credential?.name ?? 'Credential'} isOpen isWide onClose={onClose}>
      {credential ? (
        <>
          <Facts
            facts={[
              ['Website', credential.domain],
              ['Values', credential.value_keys?.join(', ')],
              ['Sign in with', credential.sso_provider],
              ['One-time codes', credential.has_totp_secret ? 'Yes' : 'No'],
              ['Mailbox for codes and links', credential.has_mailbox ? 'Yes' : 'No'],
              ['Further domains', credential.allowed_domains?.join(', ')],
              ['Changed', <Time key="changed" at={credential.updated_at} />],
              ['Created', <Time key="created" at={credential.created_at} />],
              ['Id', <Copyable key="id" text={credential.id} />],
            ]}
          />
          <Passkeys credential={credential} />
          {credential.has_totp_secret && canWrite && <OneTimeCode id={credential.id} />}
          {canWrite && (
            <footer className="actions end">
              <button type="button" className="danger" onClick={() => setOpen('delete')}>
                Delete
              </button>
              <button type="button" onClick={() => setOpen('edit')}>
                Edit
              </button>
            </footer>
          )}
          <Confirm
            title={`Delete ${credential.name}?`}
            text="Logins that use it stay, but can no longer log in by themselves. The values cannot be brought back."
            action="Delete"
            isOpen={open === 'delete'}
            onClose={() => setOpen(undefined)}
            onConfirm={() => remove.mutateAsync()}
          />
        </>
      ) : (
        <Pending query={query} what="the credential" />
      )}
    </Dialog>
  )
}
