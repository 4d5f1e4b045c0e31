import { invocationStatuses, type Invocation, type InvocationStatus } from '@berth/contracts/invocations'
import { useApi } from '../../api/context.ts'
import { curl } from '../../parts/command.ts'
import { idOf } from '../../parts/id-of.ts'
import { List } from '../../parts/List.tsx'
import { Empty } from '../../parts/Notes.tsx'
import type { Column } from '../../parts/Table.tsx'
import { duration, Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { InvocationState } from './status.tsx'

const columns: readonly Column<Invocation>[] = [
  {
    name: 'Action',
    width: 'minmax(0, 1.2fr)',
    isMain: true,
    render: ({ action_name: action, app_name: app, version }) => (
      <span className="name-cell">
        <span className="strong">{action}</span>
        <small>
          {app} {version}
        </small>
      </span>
    ),
  },
  {
    name: 'State',
    width: '120px',
    isMain: true,
    render: ({ status }) => <InvocationState status={status} />,
  },
  { name: 'Reason', width: 'minmax(0, 1fr)', render: ({ status_reason: reason }) => reason },
  { name: 'Started', width: '140px', render: ({ started_at: at }) => <Time at={at} /> },
  {
    name: 'Took',
    width: '100px',
    render: ({ started_at: start, finished_at: end }) =>
      end == null ? '' : duration(Date.parse(end) - Date.parse(start)),
  },
]

export function InvocationList({ appName }: { appName?: string }) {
  const { client } = useApi()
  const url = useUrl()
  const query = url.text('q')
  const status = url.text('status') as InvocationStatus | ''
  const list = useLongList<Invocation>({
    key: ['invocation', query, status, appName ?? ''],
    idOf,
    read: async (page, signal) =>
      (
        await client.invocations.list(
          {
            ...page,
            query,
            ...(status !== '' && { status }),
            ...(appName !== undefined && { app_name: appName }),
          },
          { signal },
        )
      ).getPaginatedItems(),
  })
  return (
    <List
      label="Invocations"
      search="Search by id, app or action"
      filters={
        <select
          aria-label="State"
          value={status}
          onChange={({ target }) => url.set({ status: target.value || undefined }, { replace: true })}
        >
          <option value="">Every state</option>
          {invocationStatuses.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      }
      isFiltered={status !== ''}
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => url.set({ invocation: id })}
      empty={
        <Empty
          icon="play"
          title="No invocations yet"
          text="Open an app and invoke one of its actions, or send a request."
          command={curl({
            path: '/invocations',
            body: {
              app_name: 'my-app',
              action_name: 'my-action',
              version: 'latest',
              payload: '{}',
              async: true,
            },
          })}
        />
      }
    />
  )
}
