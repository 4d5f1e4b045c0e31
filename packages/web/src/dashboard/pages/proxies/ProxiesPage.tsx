import type { Proxy } from '@berth/contracts/proxies'
import { useApi } from '../../api/context.ts'
import { curl } from '../../parts/command.ts'
import { idOf } from '../../parts/id-of.ts'
import { ListPage } from '../../parts/ListPage.tsx'
import { Empty } from '../../parts/Notes.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { CreateProxy } from './CreateProxy.tsx'
import { ProxyDetails } from './ProxyDetails.tsx'
import { ProxyMenu } from './ProxyMenu.tsx'
import { ProxyState } from './ProxyState.tsx'
import { exitOf, titleOf } from './proxy.ts'

const columns: readonly Column<Proxy>[] = [
  {
    name: 'Name',
    width: 'minmax(0, 1.5fr)',
    isMain: true,
    render: (proxy) => (
      <span className="name-cell">
        <span className="strong">{titleOf(proxy)}</span>
        {proxy.name !== undefined && <small>{proxy.id}</small>}
      </span>
    ),
  },
  { name: 'Type', width: '150px', render: ({ type, protocol }) => `${type}, ${protocol}` },
  { name: 'Exit', width: 'minmax(0, 1fr)', render: exitOf },
  { name: 'State', width: '210px', render: (proxy) => <ProxyState proxy={proxy} /> },
  {
    name: 'Checked',
    width: '130px',
    render: ({ last_checked: at }) =>
      at === undefined ? <span className="quiet">Never</span> : <Time at={at} />,
  },
  {
    name: 'Actions',
    width: '40px',
    isMain: true,
    hasNoTitle: true,
    render: (proxy) => <ProxyMenu proxy={proxy} />,
  },
]

export function ProxiesPage() {
  const { client, power } = useApi()
  const url = useUrl()
  const query = url.text('q')
  const open = url.text('open')
  const list = useLongList<Proxy>({
    key: ['proxy', query],
    idOf,
    read: async (page, signal) =>
      // SAFETY: Berth answers with more fields than the client names.
      (await client.proxies.list({ ...page, query }, { signal })).getPaginatedItems() as Proxy[],
  })
  const canCreate = power.can('proxies:write')
  return (
    <ListPage
      title="Proxies"
      about="Where the traffic of sessions leaves from."
      create={canCreate ? 'Create a proxy' : undefined}
      search="Search by name, host or address"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => url.set({ open: id })}
      empty={
        <Empty
          icon="proxies"
          title="No proxies yet"
          text="Add a proxy of your own, and choose it when you create a session."
          command={curl({
            path: '/proxies',
            body: {
              type: 'custom',
              protocol: 'http',
              config: { host: 'proxy.example.com', port: 3128 },
            },
          })}
        />
      }
    >
      {url.has('create') && canCreate && <CreateProxy onClose={() => url.set({ create: undefined })} />}
      {open !== '' && <ProxyDetails id={open} onClose={() => url.set({ open: undefined })} />}
    </ListPage>
  )
}
