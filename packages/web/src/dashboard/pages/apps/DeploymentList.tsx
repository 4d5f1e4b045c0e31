import type { Deployment } from '@berth/contracts/deployments'
import { useApi } from '../../api/context.ts'
import { idOf } from '../../parts/id-of.ts'
import { List } from '../../parts/List.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { NoApps } from './NoApps.tsx'
import { DeploymentState } from './status.tsx'

const columns: readonly Column<Deployment>[] = [
  { name: 'Deployment', width: 'minmax(0, 1fr)', isMain: true, render: ({ id }) => <code>{id}</code> },
  {
    name: 'State',
    width: '120px',
    isMain: true,
    render: ({ status }) => <DeploymentState status={status} />,
  },
  {
    name: 'From',
    width: 'minmax(0, 1.2fr)',
    render: ({ source_url: url, source_ref: ref, entrypoint_rel_path: entry }) =>
      url === undefined ? entry : `${url} at ${ref ?? ''}`,
  },
  { name: 'Reason', width: 'minmax(0, 1.2fr)', render: ({ status_reason: reason }) => reason },
  { name: 'Created', width: '140px', render: ({ created_at: at }) => <Time at={at} /> },
]

export function DeploymentList({ appName }: { appName?: string }) {
  const { client } = useApi()
  const url = useUrl()
  const query = url.text('q')
  const list = useLongList<Deployment>({
    key: ['deployment', query, appName ?? ''],
    idOf,
    read: async (page, signal) =>
      (
        await client.deployments.list(
          { ...page, query, ...(appName !== undefined && { app_name: appName }) },
          { signal },
        )
      ).getPaginatedItems(),
  })
  return (
    <List
      label="Deployments"
      search="Search by id or app"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => url.set({ deployment: id })}
      empty={<NoApps />}
    />
  )
}
