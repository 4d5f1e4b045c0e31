import type { ManagedAuth } from '@berth/contracts/auth-connections'
import { useNavigate } from '@tanstack/react-router'
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
import { CreateLogin } from './CreateLogin.tsx'
import { FlowState, LoginState } from './LoginState.tsx'

const columns: readonly Column<ManagedAuth>[] = [
  {
    name: 'Website',
    width: 'minmax(0, 1.5fr)',
    isMain: true,
    render: ({ domain, profile_name: profile }) => (
      <span className="name-cell">
        <span className="strong">{domain}</span>
        <small>Profile {profile}</small>
      </span>
    ),
  },
  { name: 'State', width: '150px', isMain: true, render: (login) => <LoginState login={login} /> },
  { name: 'Latest login', width: 'minmax(0, 1fr)', render: (login) => <FlowState login={login} /> },
  {
    name: 'By itself',
    width: '120px',
    render: ({ can_reauth: canReauth }) =>
      canReauth ? 'Logs in again' : <span className="quiet">Needs you</span>,
  },
  {
    name: 'Checked',
    width: '140px',
    render: ({ last_auth_check_at: at }) =>
      at === undefined ? <span className="quiet">Never</span> : <Time at={at} />,
  },
]

export function LoginsPage() {
  const { client, power } = useApi()
  const navigate = useNavigate()
  const url = useUrl()
  const query = url.text('q')
  const list = useLongList<ManagedAuth>({
    key: ['auth_connection', query],
    idOf,
    read: async (page, signal) =>
      // SAFETY: Berth answers with more fields than the client names.
      (
        await client.auth.connections.list({ ...page, query }, { signal })
      ).getPaginatedItems() as ManagedAuth[],
  })
  const canCreate = power.can('logins:write')
  const open = (id: string) => void navigate({ to: `/logins/${id}`, search: keepProject })
  return (
    <ListPage
      title="Logins"
      about="Each keeps a profile logged in at one website."
      create={canCreate ? 'Create a login' : undefined}
      search="Search by website, profile or id"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => open(id)}
      empty={
        <Empty
          icon="logins"
          title="No logins yet"
          text="Connect a profile with a website. You log in once; Berth checks that it stays so."
          command={curl({
            path: '/auth/connections',
            body: { profile_name: 'my-profile', domain: 'example.com' },
          })}
        />
      }
    >
      {url.has('create') && canCreate && (
        <CreateLogin onClose={() => url.set({ create: undefined })} onCreated={({ id }) => open(id)} />
      )}
    </ListPage>
  )
}
