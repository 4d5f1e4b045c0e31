import { followDeployment } from '@berth/contracts/deployments'
import { followInvocation } from '@berth/contracts/invocations'
import { route, type Route } from '../../http/call.ts'
import type { DeploymentLocks } from '../core/locks.ts'
import type { DeploymentService } from '../deployments/service.ts'
import type { InvocationService } from '../invocations/service.ts'
import type { AppStreams } from './streams.ts'

export function followRoutes(options: {
  deployments: DeploymentService
  invocations: InvocationService
  streams: AppStreams
  locks: DeploymentLocks
}): Route[] {
  const { deployments, invocations, streams, locks } = options
  return [
    route(followDeployment, async (call) => {
      const record = await deployments.find(call, call.params.id)
      return { body: streams.ofDeployment(record, await locks.of(record.id), call.query.since) }
    }),
    route(followInvocation, async (call) => {
      const record = await invocations.find(call, call.params.id)
      return { body: streams.ofInvocation(record, await locks.of(record.deployment_id), call.query.since) }
    }),
  ]
}
