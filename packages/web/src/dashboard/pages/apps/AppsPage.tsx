import type { AppVersion } from '@berth/contracts/apps'
import { useNavigate } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { Icon } from '../../parts/Icon.tsx'
import { idOf } from '../../parts/id-of.ts'
import { List } from '../../parts/List.tsx'
import { Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import type { Column } from '../../parts/Table.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { AppDialogs } from './AppDialogs.tsx'
import { DeploymentList } from './DeploymentList.tsx'
import { InvocationList } from './InvocationList.tsx'
import { NoApps } from './NoApps.tsx'

const columns: readonly Column<AppVersion>[] = [
  {
    name: 'App',
    width: 'minmax(0, 1.2fr)',
    isMain: true,
    render: ({ app_name: name }) => <span className="strong">{name}</span>,
  },
  { name: 'Version', width: '140px', isMain: true, render: ({ version }) => version },
  {
    name: 'Actions',
    width: 'minmax(0, 1.5fr)',
    render: ({ actions }) => actions.map(({ name }) => name).join(', '),
  },
  {
    name: 'Environment',
    width: 'minmax(0, 1fr)',
    render: ({ env_vars: env }) => Object.keys(env).join(', '),
  },
]

export function AppsPage() {
  const { power } = useApi()
  const url = useUrl()
  return (
    <Page
      title="Apps"
      about="Your programs, run next to the browsers."
      isFull
      actions={
        power.can('apps:write') && (
          <button type="button" className="primary" onClick={() => url.set({ deploy: true })}>
            <Icon name="upload" size={16} /> Deploy
          </button>
        )
      }
    >
      <Tabs
        label="Apps"
        tabs={[
          { id: 'versions', text: 'Versions', render: () => <VersionList /> },
          { id: 'deployments', text: 'Deployments', render: () => <DeploymentList /> },
          { id: 'invocations', text: 'Invocations', render: () => <InvocationList /> },
        ]}
      />
      <AppDialogs />
    </Page>
  )
}

function VersionList() {
  const { client } = useApi()
  const navigate = useNavigate()
  const url = useUrl()
  const query = url.text('q')
  // A change of a deployment may change its apps.
  const list = useLongList<AppVersion>({
    key: ['deployment', 'apps', query],
    idOf,
    read: async (page, signal) =>
      (await client.apps.list({ ...page, query }, { signal })).getPaginatedItems(),
  })
  return (
    <List
      label="App versions"
      search="Search by app or version"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ app_name: name, version }) =>
        void navigate({
          to: '/apps/$id',
          params: { id: name },
          search: (old: { project?: string }) => ({ ...keepProject(old), version }),
        })
      }
      empty={<NoApps />}
    />
  )
}
