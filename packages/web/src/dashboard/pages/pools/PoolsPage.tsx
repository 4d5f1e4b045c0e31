import type { BrowserPool } from '@berth/contracts/browser-pools'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { curl } from '../../parts/command.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Empty, ErrorNote, Loading } from '../../parts/Notes.tsx'
import { Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { Table, type Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { Fill } from './Fill.tsx'
import { PoolForm } from './PoolForm.tsx'

const idOf = ({ id }: BrowserPool) => id
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
  const { create } = useSearch({ strict: false }) as { create?: boolean }
  const list = useLongList<BrowserPool>({
    key: ['browser_pool'],
    read: async (page, signal) =>
      (await client.browserPools.list(page, { signal })).getPaginatedItems() as unknown as BrowserPool[],
    idOf,
    refetchMs: REFETCH_MS,
  })
  const canWrite = power.can('browsers:write')
  const setCreating = (isCreating: boolean) =>
    void navigate({
      to: '.',
      replace: !isCreating,
      search: (old: object) => ({ ...old, create: isCreating ? true : undefined }),
    })
  return (
    <Page
      title="Pools"
      isFull
      about="Browsers that wait, ready to be leased"
      actions={
        <button
          type="button"
          className="primary"
          disabled={!canWrite}
          title={canWrite ? undefined : 'This key may not create pools: it lacks browsers:write'}
          onClick={() => setCreating(true)}
        >
          <Icon name="plus" size={16} /> Create a pool
        </button>
      }
    >
      {list.error !== null && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && list.error === null && <Loading what="pools" />}
      {list.rows.length > 0 && (
        <Table
          label="Pools"
          rows={list.rows}
          columns={columns}
          idOf={idOf}
          onRange={list.onRange}
          onOpen={({ id }) => void navigate({ to: '/pools/$id', params: { id }, search: keepProject })}
        />
      )}
      {!list.isPending && list.rows.length === 0 && list.error === null && (
        <Empty
          icon="pools"
          title="There are no pools"
          text="A pool keeps browsers ready, so that a lease takes no time. Create one here or with curl:"
          command={curl({
            projectId,
            path: '/browser_pools',
            body: { name: 'my-pool', size: 2, headless: true },
          })}
        />
      )}
      {create === true && canWrite && <PoolForm onClose={() => setCreating(false)} />}
    </Page>
  )
}
