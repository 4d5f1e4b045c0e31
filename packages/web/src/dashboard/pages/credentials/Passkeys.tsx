import { useState } from 'react'
import type { Credential, CredentialPasskey } from '@berth/contracts/credentials'
import { useAsk, usePower } from '../../api/context.ts'
import { Confirm } from '../../parts/Dialog.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'

/** The passkeys of a credential: where each is used, and never the key. */
export function Passkeys({ credential }: { credential: Credential }) {
  const ask = useAsk()
  const canWrite = usePower().can('credentials:write')
  const [chosen, setChosen] = useState<CredentialPasskey>()
  const remove = useAct({
    run: (id: string) =>
      ask(`/credentials/${encodeURIComponent(credential.id)}/passkeys/${encodeURIComponent(id)}`, {
        method: 'DELETE',
      }),
    done: 'The passkey is deleted',
    changes: ['credential', 'auth_connection'],
    isQuiet: true,
  })
  const { passkeys = [] } = credential
  if (passkeys.length === 0) return null
  return (
    <section>
      <h3>Passkeys</h3>
      <table className="plain-table" aria-label="Passkeys">
        <thead>
          <tr>
            <th>Website</th>
            <th>Created</th>
            <th>Last used</th>
            {canWrite && (
              <th>
                <span className="unseen">Delete</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {passkeys.map((passkey) => (
            <tr key={passkey.id}>
              <td>{passkey.rp_id}</td>
              <td>
                <Time at={passkey.created_at} />
              </td>
              <td>{passkey.last_used_at === null ? 'Never' : <Time at={passkey.last_used_at} />}</td>
              {canWrite && (
                <td>
                  <button type="button" className="danger" onClick={() => setChosen(passkey)}>
                    Delete
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      <Confirm
        title={`Delete the passkey for ${chosen?.rp_id ?? ''}?`}
        text="It cannot be brought back. Remove it from the website, too."
        action="Delete"
        isOpen={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        onConfirm={() => remove.mutateAsync(chosen!.id)}
      />
    </section>
  )
}
