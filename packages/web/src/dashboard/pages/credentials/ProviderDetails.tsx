import { useState } from 'react'
import type { CredentialProvider } from '@berth/contracts/credential-providers'
import { useQuery } from '@tanstack/react-query'
import { useApi, useAsk } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Confirm, Dialog } from '../../parts/Dialog.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Facts } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { WebLink } from '../../parts/WebLink.tsx'
import { ProviderForm } from './ProviderForm.tsx'
import { typeWords } from './ProviderList.tsx'

export function ProviderDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const { client, power } = useApi()
  const ask = useAsk()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const [showsItems, setShowsItems] = useState(false)
  const query = useOne<CredentialProvider>(['credential_provider', id], (signal) =>
    ask(`/org/credential_providers/${encodeURIComponent(id)}`, { signal }),
  )
  const { data: provider } = query
  const change = useAct({
    run: (enabled: boolean) => client.credentialProviders.update(id, { enabled }),
    done: (_answer, enabled) => (enabled ? 'Logins use it' : 'Logins do not use it'),
    changes: ['credential_provider'],
  })
  const test = useAct({ run: () => client.credentialProviders.test(id) })
  const remove = useAct({
    run: () => client.credentialProviders.delete(id),
    done: 'The provider is deleted',
    changes: ['credential_provider'],
    isQuiet: true,
    onDone: onClose,
  })
  const canWrite = power.can('credentials:write') && power.isOrganization
  if (provider && open === 'edit') {
    return <ProviderForm provider={provider} onClose={() => setOpen(undefined)} />
  }
  return (
    <Dialog title={provider?.name ?? 'Provider'} isOpen isWide onClose={onClose}>
      {provider ? (
        <>
          <Facts
            facts={[
              ['Kind', typeWords[provider.provider_type]],
              ['State', provider.enabled ? 'In use' : 'Off'],
              ['Asked as number', provider.priority],
              ['Server', provider.server_url && <WebLink url={provider.server_url} />],
              ['Keeps the list of items', `${provider.cache_ttl_seconds} s`],
              ['Projects', provider.project_ids.join(', ')],
              ['Changed', <Time key="changed" at={provider.updated_at} />],
              ['Id', <Copyable key="id" text={provider.id} />],
            ]}
          />
          {test.data && (
            <p role="status" className={test.data.success ? 'good' : 'bad'}>
              {test.data.success
                ? `It works. Vaults: ${test.data.vaults.map(({ name }) => name).join(', ') || 'none'}`
                : `It does not work: ${test.data.error ?? 'no reason given'}`}
            </p>
          )}
          {showsItems && <Items id={id} />}
          {canWrite && (
            <footer className="actions end">
              <button type="button" className="danger" onClick={() => setOpen('delete')}>
                Delete
              </button>
              <button
                type="button"
                disabled={change.isPending}
                onClick={() => change.mutate(!provider.enabled)}
              >
                {provider.enabled ? 'Switch off' : 'Switch on'}
              </button>
              <button type="button" onClick={() => setOpen('edit')}>
                Edit
              </button>
              <button type="button" onClick={() => setShowsItems(true)}>
                Show its items
              </button>
              <button
                type="button"
                className="primary"
                disabled={test.isPending}
                onClick={() => test.mutate()}
              >
                {test.isPending ? 'Testing…' : 'Test'}
              </button>
            </footer>
          )}
          <Confirm
            title={`Delete ${provider.name}?`}
            text="Logins that use it stay, but can no longer log in by themselves."
            action="Delete"
            isOpen={open === 'delete'}
            onClose={() => setOpen(undefined)}
            onConfirm={() => remove.mutateAsync()}
          />
        </>
      ) : (
        <Pending query={query} what="the provider" />
      )}
    </Dialog>
  )
}

function Items({ id }: { id: string }) {
  const { client } = useApi()
  const query = useQuery({
    queryKey: ['credential_provider', 'items', id],
    queryFn: ({ signal }) => client.credentialProviders.listItems(id, { signal }),
  })
  if (!query.data) return <Pending query={query} what="the items" />
  const items = query.data.items ?? []
  if (items.length === 0) return <p className="quiet">It has no login items that the token can see.</p>
  return (
    <ul className="uses">
      {items.map(({ id: item, path, urls }) => (
        <li key={item}>
          <Copyable text={path ?? item ?? ''} /> <span className="quiet">{urls?.join(', ')}</span>
        </li>
      ))}
    </ul>
  )
}
