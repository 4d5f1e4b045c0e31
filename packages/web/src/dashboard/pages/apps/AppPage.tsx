import type { AppVersion } from '@berth/contracts/apps'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Empty, Pending } from '../../parts/Notes.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { Tabs } from '../../parts/Tabs.tsx'
import { useUrl } from '../../parts/use-url.ts'
import { AppDialogs } from './AppDialogs.tsx'
import { DeploymentList } from './DeploymentList.tsx'
import { InvocationList } from './InvocationList.tsx'
import { InvokeDialog } from './InvokeDialog.tsx'

/** All versions of the app of this name. */
export function AppPage() {
  const { id: name = '' } = useParams({ strict: false })
  const { client, power, projectId } = useApi()
  const url = useUrl()
  const query = useQuery({
    queryKey: ['deployment', 'app', projectId ?? null, name],
    queryFn: async ({ signal }) =>
      // SAFETY: Berth answers with more fields than the client names.
      (
        await client.apps.list({ app_name: name, limit: 100 }, { signal })
      ).getPaginatedItems() as AppVersion[],
    placeholderData: () => undefined,
  })
  const versions = query.data
  const chosen = versions?.find(({ version }) => version === url.text('version')) ?? versions?.[0]
  const above = (
    <Link to="/apps" search={keepProject}>
      Apps
    </Link>
  )
  return (
    <Page
      title={name}
      above={above}
      isFull
      actions={
        power.can('apps:write') && (
          <button type="button" onClick={() => url.set({ deploy: true })}>
            <Icon name="upload" size={16} /> Deploy
          </button>
        )
      }
    >
      {!versions ? (
        <Pending query={query} what="the app" />
      ) : !chosen ? (
        <Empty
          icon="apps"
          title="No version can be invoked"
          text="Its deployments have failed or were stopped."
        />
      ) : (
        <Version chosen={chosen} versions={versions} />
      )}
      <Tabs
        label="Runs"
        tabs={[
          { id: 'invocations', text: 'Invocations', render: () => <InvocationList appName={name} /> },
          { id: 'deployments', text: 'Deployments', render: () => <DeploymentList appName={name} /> },
        ]}
      />
      {chosen && url.has('invoke') && power.can('apps:write') && (
        <InvokeDialog
          app={chosen}
          action={url.text('invoke')}
          onClose={() => url.set({ invoke: undefined })}
          onInvoked={(invocation) => url.set({ invoke: undefined, invocation }, { replace: true })}
        />
      )}
      <AppDialogs />
    </Page>
  )
}

function Version({ chosen, versions }: { chosen: AppVersion; versions: readonly AppVersion[] }) {
  const url = useUrl()
  const { power } = useApi()
  return (
    <Card
      title="Version"
      actions={
        <select
          aria-label="Version"
          value={chosen.version}
          onChange={({ target }) => url.set({ version: target.value })}
        >
          {versions.map(({ id, version }) => (
            <option key={id} value={version}>
              {version}
            </option>
          ))}
        </select>
      }
    >
      <div className="form">
        <Facts
          facts={[
            ['Environment', Object.keys(chosen.env_vars).join(', ') || 'None'],
            [
              'Deployment',
              <button
                key="deployment"
                type="button"
                className="plain"
                onClick={() => url.set({ deployment: chosen.deployment })}
              >
                <code>{chosen.deployment}</code>
              </button>,
            ],
          ]}
        />
        <div className="actions" role="group" aria-label="Actions">
          {chosen.actions.map(({ name }) => (
            <button
              key={name}
              type="button"
              disabled={!power.can('apps:write')}
              title={power.can('apps:write') ? undefined : 'Your key may not invoke (apps:write)'}
              onClick={() => url.set({ invoke: name })}
            >
              <Icon name="play" size={14} /> {name}
            </button>
          ))}
        </div>
      </div>
    </Card>
  )
}
