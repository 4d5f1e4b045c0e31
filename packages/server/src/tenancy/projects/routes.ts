import * as contract from '@berth/contracts/projects'
import { route, type Route } from '../../http/call.ts'
import type { ProjectService } from './service.ts'

export function projectRoutes(projects: ProjectService): Route[] {
  return [
    route(contract.createProject, ({ db, body }) => projects.create(db, body)),
    route(contract.listProjects, ({ db, principal, query }) => projects.list(db, principal, query)),
    route(contract.getProject, ({ db, principal, params }) => projects.get(db, principal, params.id)),
    route(contract.updateProject, ({ db, principal, params, body }) =>
      projects.update(db, principal, params.id, body),
    ),
    route(contract.deleteProject, ({ db, principal, params }) => projects.delete(db, principal, params.id)),
    route(contract.getProjectLimits, ({ db, principal, params }) =>
      projects.getLimits(db, principal, params.id),
    ),
    route(contract.updateProjectLimits, ({ db, principal, params, body }) =>
      projects.updateLimits(db, principal, params.id, body),
    ),
    route(contract.getProjectStorage, ({ db, principal, params }) =>
      projects.getStorage(db, principal, params.id),
    ),
  ]
}
