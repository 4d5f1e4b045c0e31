import * as contract from '@berth/contracts/deployments'
import { route, type Route } from '../../http/call.ts'
import type { DeploymentService } from './service.ts'

export function deploymentRoutes(deployments: DeploymentService): Route[] {
  return [
    route(contract.createDeployment, (call) => deployments.create(call, call)),
    route(contract.listDeployments, (call) => deployments.list(call, call.query)),
    route(contract.getDeployment, (call) => deployments.get(call, call.params.id)),
    route(contract.deleteDeployment, (call) => deployments.delete(call, call.params.id, call.commit)),
  ]
}
