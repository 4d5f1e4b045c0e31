import { useState } from 'react'
import type { Deployment, DeploymentEvent } from '@berth/contracts/deployments'
import { useQueryClient } from '@tanstack/react-query'
import { useApi, useAsk } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Confirm, Dialog } from '../../parts/Dialog.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Facts } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { WebLink } from '../../parts/WebLink.tsx'
import { LogView } from './LogView.tsx'
import { DeploymentState } from './status.tsx'
import { useLog, type LogLine } from './use-log.ts'

export function DeploymentDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const ask = useAsk()
  const { client, power } = useApi()
  const [isAsking, setAsking] = useState(false)
  const query = useOne<Deployment>(['deployment', id], (signal) =>
    ask(`/deployments/${encodeURIComponent(id)}`, { signal }),
  )
  const { data: deployment } = query
  const stop = useAct({
    run: () => client.deployments.delete(id),
    done: 'The deployment is stopped',
    changes: ['deployment', 'invocation'],
    isQuiet: true,
  })
  const canStop = power.can('apps:write') && deployment && !['failed', 'stopped'].includes(deployment.status)
  return (
    <Dialog title="Deployment" isOpen isWide onClose={onClose}>
      {deployment ? (
        <>
          <Facts
            facts={[
              ['State', <DeploymentState key="state" status={deployment.status} />],
              ['Reason', deployment.status_reason],
              ['Entry point', deployment.entrypoint_rel_path],
              ['Repository', deployment.source_url && <WebLink url={deployment.source_url} />],
              ['Branch, tag or commit', deployment.source_ref],
              ['Environment', Object.keys(deployment.env_vars ?? {}).join(', ')],
              ['Created', <Time key="created" at={deployment.created_at} />],
              ['Changed', deployment.updated_at && <Time at={deployment.updated_at} />],
              ['Id', <Copyable key="id" text={deployment.id} />],
            ]}
          />
          <BuildLog id={id} />
          {canStop && (
            <footer>
              <button type="button" className="danger" onClick={() => setAsking(true)}>
                Stop
              </button>
            </footer>
          )}
          <Confirm
            title="Stop this deployment?"
            text="Its apps can no longer be invoked, and what runs of them fails."
            action="Stop"
            isOpen={isAsking}
            onClose={() => setAsking(false)}
            onConfirm={() => stop.mutateAsync()}
          />
        </>
      ) : (
        <Pending query={query} what="the deployment" />
      )}
    </Dialog>
  )
}

function BuildLog({ id }: { id: string }) {
  const queries = useQueryClient()
  const log = useLog<DeploymentEvent>({
    path: `/deployments/${encodeURIComponent(id)}/events`,
    lineOf,
    isLast: ({ deployment }) => deployment?.status === 'failed' || deployment?.status === 'stopped',
    onEvent: ({ event }) => {
      if (event === 'deployment_state') void queries.invalidateQueries({ queryKey: ['deployment'] })
    },
  })
  return <LogView label="Log of the deployment" log={log} />
}

function lineOf(event: DeploymentEvent): LogLine | undefined {
  const { message, error, app_name: app, version, actions, deployment } = event
  switch (event.event) {
    case 'log':
      return { text: message ?? '' }
    case 'error':
      return { text: error?.message ?? 'It failed', isBad: true }
    case 'app_version_summary':
      return { text: `${app} ${version} can do: ${(actions ?? []).map(({ name }) => name).join(', ')}` }
    case 'deployment_state':
      return deployment?.status === 'failed'
        ? { text: deployment.status_reason ?? 'It failed', isBad: true }
        : undefined
    default:
      return undefined
  }
}
