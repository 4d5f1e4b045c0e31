// Destinations of a project: who may have which, and when they may change or go.
import type {
  CreateOtlpDestinationRequest,
  OtlpDestination,
  UpdateOtlpDestinationRequest,
} from '@berth/contracts/telemetry-destinations'
import type { Commit, OffsetPage } from '../../../http/call.ts'
import { toPage } from '../../../http/paging.ts'
import { projectOf, type Principal } from '../../../http/principal.ts'
import type { DirectUpstreamOptions } from '../../../instances/egress/upstream.ts'
import { announceChange } from '../../../platform/database/changes.ts'
import type { Db } from '../../../platform/database/schema.ts'
import { uniqueNames } from '../../../platform/database/unique-names.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { SealedBox } from '../../../platform/secrets/sealed-box.ts'
import { findProjectBy, lockProjects } from '../../../tenancy/projects/store.ts'
import { checkAddress, checkEndpoint } from './endpoint.ts'
import { changedHeaders, type Headers } from './headers.ts'
import { checkName, nameKey } from './names.ts'
import { openHeaders, sealHeaders } from './sealed-headers.ts'
import * as store from './store.ts'
import type { CountExporting, DestinationRecord, DestinationUse } from './types.ts'
import { toOtlpDestination } from './view.ts'

/** A slow destination delays no other one, because a project has a place for each. */
export const MAX_DESTINATIONS = 50

/** The origin of a call: its key and the project from a header. */
export interface Caller {
  readonly principal: Principal
  readonly projectId: string | null
}

/** The request behind a change. */
interface Act {
  readonly commit: Commit
  readonly signal: AbortSignal
}

export interface DestinationServiceOptions {
  readonly db: Db
  readonly box: SealedBox
  /** How deliveries connect. */
  readonly direct: DirectUpstreamOptions
  readonly countExporting: CountExporting
  readonly uses: readonly DestinationUse[]
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

const withFreeName = uniqueNames({ constraint: 'telemetry_destinations_name', what: 'telemetry destination' })

export class DestinationService {
  readonly #options: DestinationServiceOptions

  constructor(options: DestinationServiceOptions) {
    this.#options = options
  }

  async create(
    caller: Caller,
    body: CreateOtlpDestinationRequest,
    { commit, signal }: Act,
  ): Promise<OtlpDestination> {
    const { box, direct, defaultProject } = this.#options
    const name = checkName(body.name)
    const headers = changedHeaders({}, body.headers ?? {})
    await checkAddress(checkEndpoint(body.endpoint), direct, signal)
    return withFreeName(name, () =>
      commit(async (tx) => {
        // Otherwise the project could be deleted as empty before this destination is in it.
        await lockProjects(tx)
        const projectId = projectOf(caller) ?? (await defaultProject(tx)).id
        const project = await findProjectBy(tx, 'id', projectId)
        if (project?.status !== 'active') {
          throw new AppError('project_not_found', `Cannot find an active project "${projectId}"`)
        }
        if ((await store.countDestinations(tx, projectId)) >= MAX_DESTINATIONS) {
          throw new AppError(
            'conflict',
            `Cannot create a telemetry destination: the project has ${MAX_DESTINATIONS} already; delete one`,
          )
        }
        const id = store.newDestinationId()
        const { endpoint, description } = body
        const values = { id, name, endpoint, description: description || null, ...sealed(box, id, headers) }
        return toOtlpDestination(await store.insertDestination(tx, projectId, values))
      }),
    )
  }

  async list(
    caller: Caller,
    query: { limit?: number; offset?: number; query?: string; name?: string },
  ): Promise<OffsetPage<OtlpDestination[]>> {
    const { db } = this.#options
    const { limit = 20, offset = 0, ...filters } = query
    const rows = await store.listDestinations(db, projectOf(caller), { ...filters, limit: limit + 1, offset })
    const waiting = await store.waitingFor(
      db,
      rows.map(({ id }) => id),
    )
    return toPage(
      rows.map((row) => toOtlpDestination(row, waiting.get(row.id))),
      limit,
    )
  }

  async get(caller: Caller, idOrName: string): Promise<OtlpDestination> {
    const { db } = this.#options
    return show(db, await find(db, caller, idOrName))
  }

  async update(
    caller: Caller,
    idOrName: string,
    body: UpdateOtlpDestinationRequest,
    { commit, signal }: Act,
  ): Promise<OtlpDestination> {
    const { db, box, direct } = this.#options
    const { id, project_id: projectId } = await find(db, caller, idOrName)
    const name = body.name === undefined ? undefined : checkName(body.name)
    if (body.endpoint !== undefined) await checkAddress(checkEndpoint(body.endpoint), direct, signal)
    return withFreeName(name, () =>
      commit(async (tx) => {
        const record = await store.findDestination(tx, projectId, { id }, { lockFor: 'change' })
        if (!record) throw notFound(idOrName)
        if (name !== undefined && name !== record.name) await this.#refuseIfNamed(tx, record)
        const headers = changedHeaders(openHeaders(box, record), body.headers ?? {})
        const updated = await store.updateDestination(tx, record, {
          name: name ?? record.name,
          endpoint: body.endpoint ?? record.endpoint,
          description: body.description === undefined ? record.description : body.description || null,
          ...sealed(box, id, headers),
        })
        await announceChange(tx, 'telemetryExportChanged', { destinationId: id })
        return show(tx, updated)
      }),
    )
  }

  async delete(tx: Db, caller: Caller, idOrName: string): Promise<void> {
    const ref = store.refOf(idOrName)
    const record = await store.findDestination(tx, projectOf(caller), ref, {
      includesDeleted: true,
      lockFor: 'change',
    })
    if (!record) throw notFound(idOrName)
    // Deleting twice succeeds, because a client that lost the first answer repeats the request.
    if (record.deleted_at) return
    const sessions = await this.#options.countExporting(tx, record.id)
    if (sessions > 0) throw inUse(record, `${sessions} browser sessions export to it`)
    for (const { what, namedIn } of this.#options.uses) {
      const refs = await namedIn(tx, record.project_id)
      if (refs.some(({ id, name }) => id === record.id || isNameOf(record, name))) {
        throw inUse(record, `${what} select it`)
      }
    }
    await store.markDestinationDeleted(tx, record.project_id, record.id)
  }

  async #refuseIfNamed(tx: Db, record: DestinationRecord): Promise<void> {
    for (const { what, namedIn } of this.#options.uses) {
      const refs = await namedIn(tx, record.project_id)
      if (refs.some(({ name }) => isNameOf(record, name))) {
        throw new AppError(
          'conflict',
          `Cannot rename telemetry destination "${record.name}": ${what} select it by name; let them select it by id first`,
        )
      }
    }
  }
}

const isNameOf = ({ name_key }: DestinationRecord, name: string | undefined) =>
  name !== undefined && nameKey(name) === name_key

function sealed(box: SealedBox, id: string, headers: Headers) {
  return { sealedHeaders: sealHeaders(box, id, headers), headerNames: Object.keys(headers).toSorted() }
}

async function show(db: Db, record: DestinationRecord): Promise<OtlpDestination> {
  return toOtlpDestination(record, (await store.waitingFor(db, [record.id])).get(record.id))
}

async function find(db: Db, caller: Caller, idOrName: string): Promise<DestinationRecord> {
  const record = await store.findDestination(db, projectOf(caller), store.refOf(idOrName))
  if (!record) throw notFound(idOrName)
  return record
}

function inUse({ name }: DestinationRecord, why: string): AppError {
  return new AppError(
    'conflict',
    `Cannot delete telemetry destination "${name}": ${why}; end them or change them first`,
  )
}

function notFound(idOrName: string): AppError {
  return new AppError('not_found', `Cannot find telemetry destination "${idOrName}"`)
}
