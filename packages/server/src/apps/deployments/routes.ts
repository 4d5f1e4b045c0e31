import * as contract from '@berth/contracts/deployments'
import type { LockOf } from '../core/lock.ts'
import type { AppStreams } from '../core/stream.ts'
import { route, type Route } from '../../http/call.ts'
import type { DeploymentService } from './service.ts'

export function deploymentRoutes(
  deployments: DeploymentService,
  { streams, lockOf }: { streams: AppStreams; lockOf: LockOf },
): Route[] {
  return [
    route(contract.createDeployment, (call) => deployments.create(call, call)),
    route(contract.listDeployments, (call) => deployments.list(call, call.query)),
    route(contract.getDeployment, (call) => deployments.get(call, call.params.id)),
    route(contract.deleteDeployment, (call) => deployments.delete(call, call.params.id, call.commit)),
    route(contract.followDeployment, async (call) => {
      const record = await deployments.find(call, call.params.id)
      return { body: streams.ofDeployment(record, await lockOf(record.id), call.query.since) }
    }),
  ]
}
