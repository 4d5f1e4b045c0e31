import type {
  Project,
  ProjectLimits,
  ProjectStatus,
  ProjectStorage,
  UpdateProjectLimitsRequest,
} from '@berth/contracts/projects'
import { announceChange } from '../../platform/database/changes.ts'
import { uniqueNames } from '../../platform/database/unique-names.ts'
import { wasDeleted } from '../../platform/database/deleted-rows.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import type { Principal, ProjectResolver } from '../../http/principal.ts'
import { toStorage, type StorageLimits } from '../storage/storage-limits.ts'
import * as store from './store.ts'
import { limitNames, type ProjectContent, type ProjectRecord, type ProjectSummary } from './types.ts'

const withFreeName = uniqueNames({ constraint: 'projects_name', what: 'project' })

export interface ProjectServiceOptions {
  readonly db: Db
  readonly storage: StorageLimits
  readonly contents: readonly ProjectContent[]
}

export class ProjectService implements ProjectResolver {
  readonly #db: Db
  readonly #storage: StorageLimits
  readonly #contents: readonly ProjectContent[]

  constructor({ db, storage, contents }: ProjectServiceOptions) {
    this.#db = db
    this.#storage = storage
    this.#contents = contents
  }

  async create(tx: Db, { name }: { name: string }): Promise<Project> {
    checkNewName(name)
    return toProject(await withFreeName(name, () => store.insertProject(tx, name)))
  }

  async list(
    db: Db,
    principal: Principal,
    query: { limit?: number; offset?: number; query?: string; name?: string },
  ): Promise<OffsetPage<Project[]>> {
    const { limit = 20, offset = 0, ...filters } = query
    const rows = await store.listProjects(db, {
      ...filters,
      onlyId: principal.projectId,
      limit: limit + 1,
      offset,
    })
    return toPage(rows.map(toProject), limit)
  }

  async get(db: Db, principal: Principal, idOrName: string): Promise<Project> {
    return toProject(await findVisible(db, principal, idOrName))
  }

  async update(
    tx: Db,
    principal: Principal,
    idOrName: string,
    change: { name?: string; status?: ProjectStatus },
  ): Promise<Project> {
    if (change.status === undefined) return this.#rename(tx, principal, idOrName, change.name)
    if (principal.projectId !== null) {
      throw new AppError('forbidden', 'Cannot archive or restore a project with a project key')
    }
    await store.lockProjects(tx)
    const project = await findVisible(tx, principal, idOrName, { isLocked: true })
    if (change.status === 'archived' && project.status === 'active')
      await this.#refuseIfLast(tx, 'archive', project)
    const { name = project.name, status } = change
    if (name !== project.name) checkNewName(name)
    if (name === project.name && status === project.status) return toProject(project)
    const updated = await withFreeName(name, () => store.updateProject(tx, project.id, { name, status }))
    if (project.is_default && updated.status === 'archived') await store.chooseDefaultProject(tx)
    // Servers cache only whether a project's keys may be used.
    if (updated.status !== project.status)
      await announceChange(tx, 'projectChanged', { projectId: project.id })
    return toProject(updated)
  }

  async #rename(tx: Db, principal: Principal, idOrName: string, name: string | undefined): Promise<Project> {
    if (name === undefined) return toProject(await findVisible(tx, principal, idOrName, { isLocked: true }))
    const onlyId = principal.projectId
    if (isUnfitForPaths(name) && (await findVisible(tx, principal, idOrName)).name !== name)
      checkNewName(name)
    const project = await withFreeName(name, () => store.renameProject(tx, idOrName, { name, onlyId }))
    if (!project) throw notFound(idOrName)
    return toProject(project)
  }

  async delete(tx: Db, principal: Principal, idOrName: string): Promise<void> {
    await store.lockProjects(tx)
    // Deleting twice succeeds, because a client that lost the first answer tries again.
    if (await wasDeleted(tx, 'projects', { projectId: null, id: idOrName })) return
    const project = await findVisible(tx, principal, idOrName, { isLocked: true })
    if (project.status === 'active') await this.#refuseIfLast(tx, 'delete', project)
    for (const content of this.#contents) {
      const count = await content.countIn(tx, project.id)
      if (count > 0) {
        throw new AppError(
          'project_not_empty',
          `Cannot delete project "${project.name}": it has ${count} ${content.what}; delete them first`,
        )
      }
    }
    await store.markDeleted(tx, project.id)
    if (project.is_default) await store.chooseDefaultProject(tx)
    await announceChange(tx, 'projectChanged', { projectId: project.id })
  }

  async #refuseIfLast(tx: Db, action: string, project: ProjectRecord): Promise<void> {
    if ((await store.countActiveProjects(tx)) > 1) return
    throw new AppError(
      'last_active_project',
      `Cannot ${action} project "${project.name}": it is the last active one; create or restore another first`,
    )
  }

  async getLimits(db: Db, principal: Principal, idOrName: string): Promise<ProjectLimits> {
    return toLimits(await findVisible(db, principal, idOrName))
  }

  async updateLimits(
    tx: Db,
    principal: Principal,
    idOrName: string,
    change: UpdateProjectLimitsRequest,
  ): Promise<ProjectLimits> {
    const project = await findVisible(tx, principal, idOrName, { isLocked: true })
    const changed = limitNames.filter((name) => change[name] !== undefined)
    if (changed.length === 0) return toLimits(project)
    const caps = Object.fromEntries(changed.map((name) => [name, change[name] || null]))
    return toLimits(await store.updateProjectLimits(tx, project.id, caps))
  }

  async getStorage(db: Db, principal: Principal, idOrName: string): Promise<ProjectStorage> {
    const { id } = await findVisible(db, principal, idOrName)
    return toStorage(await this.#storage.use(db, id))
  }

  async resolve(reference: string, by: 'id' | 'id-or-name'): Promise<{ id: string } | undefined> {
    const project =
      by === 'id'
        ? await store.findProjectBy(this.#db, 'id', reference)
        : await store.findProject(this.#db, reference)
    return project?.status === 'active' ? project : undefined
  }
}

/** A name stands in paths, and clients encode it in different ways. Older names may have such characters. */
const isUnfitForPaths = (name: string) => /[/%]/.test(name)

function checkNewName(name: string): void {
  if (isUnfitForPaths(name)) throw invalidInput('name', 'must not contain / or %, because it stands in paths')
}

/** A project that the key may not see gets the same answer as one that does not exist. */
async function findVisible(
  db: Db,
  principal: Principal,
  idOrName: string,
  options?: store.FindOptions,
): Promise<ProjectRecord> {
  const project = await store.findProject(db, idOrName, options)
  if (!project || (principal.projectId !== null && principal.projectId !== project.id)) {
    throw notFound(idOrName)
  }
  return project
}

function notFound(idOrName: string): AppError {
  return new AppError('not_found', `Cannot find project "${idOrName}"`)
}

function toProject(record: ProjectSummary): Project {
  return {
    id: record.id,
    name: record.name,
    status: record.status,
    created_at: record.created_at,
    updated_at: record.updated_at,
  }
}

function toLimits(record: ProjectRecord): ProjectLimits {
  return {
    max_concurrent_sessions: record.max_concurrent_sessions,
    max_concurrent_invocations: record.max_concurrent_invocations,
    max_pooled_sessions: record.max_pooled_sessions,
    max_storage_bytes: record.max_storage_bytes === null ? null : Number(record.max_storage_bytes),
  }
}
