import { useMemo, useState } from 'react'
import type { ApiKey, CreatedApiKey } from '@berth/contracts/api-keys'
import { useApi } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { curl } from '../../parts/command.ts'
import { idOf } from '../../parts/id-of.ts'
import { ListPage } from '../../parts/ListPage.tsx'
import { Empty } from '../../parts/Notes.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { CreateKey } from './CreateKey.tsx'
import { KeyDetails } from './KeyDetails.tsx'
import { NewKey } from './NewKey.tsx'
import { KeyMenu } from './KeyMenu.tsx'

export function KeysPage() {
  const { client, power } = useApi()
  const url = useUrl()
  const query = url.text('q')
  const status = url.text('status') === 'all' ? 'all' : 'active'
  const ownId = power.signIn.key.id
  const [created, setCreated] = useState<CreatedApiKey>()
  const columns = useMemo(() => columnsFor(ownId, setCreated), [ownId])
  const list = useLongList<ApiKey>({
    key: ['api_key', query, status],
    idOf,
    read: async (page, signal) =>
      // SAFETY: Berth answers with more fields than the client names.
      (await client.apiKeys.list({ ...page, query, status }, { signal })).getPaginatedItems() as ApiKey[],
  })
  const canCreate = power.can('api_keys:write')
  return (
    <ListPage
      title="API keys"
      about="What programs and people sign in with."
      create={canCreate ? 'Create a key' : undefined}
      search="Search by name, project or id"
      filters={
        <label className="check">
          <input
            type="checkbox"
            checked={status === 'all'}
            onChange={({ target }) =>
              url.set({ status: target.checked ? 'all' : undefined }, { replace: true })
            }
          />
          Deleted keys too
        </label>
      }
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => url.set({ open: id })}
      empty={
        <Empty
          icon="keys"
          title="No keys"
          text="The first key comes from the operator. Make others with it."
          command={curl({ path: '/org/api_keys', body: { name: 'agents', scopes: ['browsers:write'] } })}
        />
      }
    >
      {url.has('create') && canCreate && (
        <CreateKey onClose={() => url.set({ create: undefined })} onCreated={setCreated} />
      )}
      {created && <NewKey created={created} onClose={() => setCreated(undefined)} />}
      {url.has('open') && <KeyDetails id={url.text('open')} onClose={() => url.set({ open: undefined })} />}
    </ListPage>
  )
}

const columnsFor = (
  ownId: string,
  onCreated: (created: CreatedApiKey) => void,
): readonly Column<ApiKey>[] => [
  {
    name: 'Name',
    width: 'minmax(0, 1.5fr)',
    isMain: true,
    render: ({ id, name, masked_key: masked }) => (
      <span className="name-cell">
        <span className="strong">{name}</span>
        {id === ownId && <span className="tag own">You</span>}
        <small>
          <code>{masked}</code>
        </small>
      </span>
    ),
  },
  {
    name: 'May',
    width: 'minmax(0, 1fr)',
    render: ({ scopes }) => (scopes === null ? 'Everything' : scopes.join(', ')),
  },
  {
    name: 'Project',
    width: 'minmax(0, 0.8fr)',
    render: ({ project_id: id, project_name: name }) =>
      id === null ? <span className="quiet">Whole organisation</span> : (name ?? id),
  },
  { name: 'State', width: '150px', render: (key) => <KeyState apiKey={key} /> },
  { name: 'Created', width: '130px', render: ({ created_at: at }) => <Time at={at} /> },
  {
    name: 'Actions',
    width: '40px',
    isMain: true,
    hasNoTitle: true,
    render: (key) => <KeyMenu apiKey={key} onCreated={onCreated} />,
  },
]

export function KeyState({ apiKey: { deleted_at: deleted, expires_at: expires } }: { apiKey: ApiKey }) {
  if (deleted !== null) return <Badge tone="quiet">Deleted</Badge>
  if (expires === null) return <Badge tone="good">Works</Badge>
  const hasExpired = Date.parse(expires) <= Date.now()
  return (
    <Badge tone={hasExpired ? 'bad' : 'good'}>
      <span>
        {hasExpired ? 'Ended' : 'Ends'} <Time at={expires} />
      </span>
    </Badge>
  )
}
