import type { BrowserPool } from '@berth/contracts/browser-pools'
import { Link, useNavigate } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { curl } from '../../parts/command.ts'
import { idOf } from '../../parts/id-of.ts'
import { ListPage } from '../../parts/ListPage.tsx'
import { Empty } from '../../parts/Notes.tsx'
import { keepProject } from '../../parts/project.ts'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { Fill } from './Fill.tsx'
import { PoolForm } from './PoolForm.tsx'

/** How full a pool is, as the server fills it. */
const REFETCH_MS = 10_000

const columns: readonly Column<BrowserPool>[] = [
  {
    name: 'Pool',
    width: 'minmax(150px, 1.5fr)',
    isMain: true,
    render: ({ id, name }) => (
      <Link to="/pools/$id" params={{ id }} search={keepProject} className="row-title" title={id}>
        <span>{name ?? id}</span>
        {name !== undefined && <small className="quiet">{id}</small>}
      </Link>
    ),
  },
  { name: 'Fill', width: 'minmax(170px, 2fr)', isMain: true, render: (pool) => <Fill pool={pool} /> },
  {
    name: 'Size',
    width: '70px',
    render: ({ browser_pool_config: { size } }) => <span className="number">{size}</span>,
  },
  {
    name: 'Browser',
    width: '130px',
    render: ({ browser_pool_config: { headless, stealth } }) =>
      `${headless ? 'headless' : 'headful'}${stealth ? ', stealth' : ''}`,
  },
  { name: 'Created', width: '120px', render: ({ created_at: at }) => <Time at={at} /> },
]

export function PoolsPage() {
  const { client, power, projectId } = useApi()
  const navigate = useNavigate()
  const url = useUrl()
  const query = url.text('q')
  const list = useLongList<BrowserPool>({
    key: ['browser_pool', query],
    idOf,
    // SAFETY: Berth answers with more fields than the client names.
    read: async (page, signal) =>
      (
        await client.browserPools.list({ ...page, query }, { signal })
      ).getPaginatedItems() as unknown as BrowserPool[],
    refetchMs: REFETCH_MS,
  })
  const canCreate = power.can('browsers:write')
  return (
    <ListPage
      title="Pools"
      about="Browsers that wait, ready to be leased."
      create={canCreate ? 'Create a pool' : undefined}
      search="Search by name or id"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => void navigate({ to: '/pools/$id', params: { id }, search: keepProject })}
      empty={
        <Empty
          icon="pools"
          title="No pools yet"
          text="A pool keeps browsers ready, so that a lease takes no time. Create one here or with curl:"
          command={curl({
            projectId,
            path: '/browser_pools',
            body: { name: 'my-pool', size: 2, headless: true },
          })}
        />
      }
    >
      {url.has('create') && canCreate && <PoolForm onClose={() => url.set({ create: undefined })} />}
    </ListPage>
  )
}
