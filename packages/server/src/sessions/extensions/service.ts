import { randomBytes } from 'node:crypto'
import { finished, type Readable } from 'node:stream'
import { MAX_EXTENSION_BYTES } from '@berth/contracts/extension-limits'
import type { Extension } from '@berth/contracts/extensions'
import { newId } from '@berth/kit/ids'
import type { Blob, Blobs } from '../../platform/blobs/blobs.ts'
import { BlobMissing } from '../../platform/blobs/store.ts'
import { CONTENT_KEY_BYTES, ContentSealer, openContent } from '../../platform/blobs/sealed-content.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { nameTaken, uniqueNames } from '../../platform/database/unique-names.ts'
import { wasDeleted } from '../../platform/database/deleted-rows.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import { ArchiveTurns } from '../../http/archive-turns.ts'
import type { BodyStream, Commit, OffsetPage, RawAnswer } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { projectOf, type Principal } from '../../http/principal.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import { checkArchive, type CheckedArchive } from './archive.ts'
import type { ChromeStore, StoreSystem } from './chrome-store.ts'
import { readUploadForm } from './form.ts'
import type { Spool, SpooledFile } from './spool.ts'
import * as store from './store.ts'
import type { ExtensionRecord } from './types.ts'

const withFreeName = uniqueNames({ constraint: 'extensions_name', what: 'extension of the project' })

/** Limit per project. */
const MAX_EXTENSIONS = 1_000
/** Unpacking uses much processor time, which others need too. */
const CHECKS_AT_ONCE = 2
const CHECKS_AT_ONCE_PER_PROJECT = 1
const CHECK_TIMEOUT_MS = 60_000
/** The key of whoever has no project. */
const ORGANIZATION = 'organization'
const MAX_SEALED_BYTES = 2 * MAX_EXTENSION_BYTES

export interface Caller {
  readonly principal: Principal
  /** From a header; null without one. */
  readonly projectId: string | null
}

export interface ExtensionServiceOptions {
  readonly db: Db
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly storage: StorageLimits
  readonly spool: Spool
  readonly chromeStore: ChromeStore
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

export class ExtensionService {
  readonly #options: ExtensionServiceOptions
  readonly #checks = new ArchiveTurns({
    atOnce: CHECKS_AT_ONCE,
    atOncePerProject: CHECKS_AT_ONCE_PER_PROJECT,
  })

  constructor(options: ExtensionServiceOptions) {
    this.#options = options
  }

  /** Stores the archive before the row, because bytes without a row are cleaned up later. */
  async upload(
    caller: Caller,
    stream: BodyStream | undefined,
    { commit, signal }: { commit: Commit; signal: AbortSignal },
  ): Promise<Extension> {
    const { db, blobs, storage, spool, defaultProject } = this.#options
    const projectId = projectOf(caller) ?? (await defaultProject(db)).id
    const write = { projectId, kind: 'extensions', action: 'take the extension' } as const
    using uploads = new DisposableStack()
    uploads.use(await storage.begin(write))
    await using form = await readUploadForm(stream, spool)
    const { name, file } = form
    await this.#checkPlace(projectId, name)
    const archive = await this.#check(file, projectId, signal)
    const id = newId()
    const kept = await this.#keep(id, archive, signal)
    crashPoint('extension-kept')
    try {
      const record = await withFreeName(name, () =>
        commit((tx) =>
          storage.guard(tx, write, async () => {
            await blobs.record(tx, 'extension', kept.blob)
            return store.insertExtension(tx, {
              id,
              projectId,
              name,
              sha256: file.sha256,
              sizeBytes: file.size,
              manifestName: archive.manifest.name,
              manifestVersion: archive.manifest.version,
              blobId: kept.blob.id,
              archiveBytes: kept.archiveBytes,
              sealedKey: kept.sealedKey,
            })
          }),
        ),
      )
      return toExtension(record)
    } catch (error) {
      await blobs.remove(db, kept.blob.id)
      throw error
    }
  }

  async list(
    db: Db,
    caller: Caller,
    query: { limit?: number; offset?: number; query?: string; name?: string },
  ): Promise<OffsetPage<Extension[]>> {
    const { limit = 20, offset = 0, ...filters } = query
    const projectId = projectOf(caller)
    const rows = await store.listExtensions(db, { ...filters, projectId, limit: limit + 1, offset })
    return toPage(rows.map(toExtension), limit)
  }

  async get(db: Db, caller: Caller, idOrName: string): Promise<Extension> {
    return toExtension(await find(db, caller, idOrName))
  }

  async download(db: Db, caller: Caller, idOrName: string): Promise<RawAnswer> {
    const record = await find(db, caller, idOrName)
    const filename = record.name ?? record.id
    return {
      headers: {
        'content-length': record.archive_bytes,
        'content-disposition': `attachment; filename="${filename}.zip"`,
        'cache-control': 'private, no-store',
      },
      body: this.content(record),
    }
  }

  /** Deleting twice succeeds, because a client that lost the first answer repeats the request. */
  async delete(caller: Caller, idOrName: string, commit: Commit): Promise<void> {
    const { db, blobs } = this.#options
    const record = await store.findExtension(db, projectOf(caller), idOrName)
    if (!record) {
      if (await wasDeleted(db, 'extensions', { projectId: projectOf(caller), id: idOrName }))
        return commit(() => Promise.resolve())
      throw notFound(idOrName)
    }
    const blobId = await commit(async (tx) => {
      const deleted = await store.markDeleted(tx, record)
      if (deleted !== undefined) await blobs.forget(tx, [deleted])
      return deleted
    })
    crashPoint('extension-deleted')
    if (blobId !== undefined) await blobs.remove(db, blobId)
  }

  /** Downloads an extension from the store as an archive that can be uploaded. */
  async fromChromeStore(
    caller: Caller,
    { url, os = 'linux' }: { url: string; os?: StoreSystem },
    signal: AbortSignal,
  ): Promise<RawAnswer> {
    const { chromeStore, spool } = this.#options
    await using acquired = new AsyncDisposableStack()
    const fetched = acquired.use(await chromeStore.fetch({ url, os, spool, signal }))
    const archive = await this.#check(fetched.file, projectOf(caller) ?? ORGANIZATION, signal)
    const body = archive.content()
    const owned = acquired.move()
    // Clean up even if the body is not read to its end.
    finished(body, () => void owned.disposeAsync())
    return { headers: { 'content-disposition': `attachment; filename="${fetched.id}.zip"` }, body }
  }

  /** The archive that is unpacked in an instance. */
  content({ id, blob_id, archive_bytes, sealed_key }: ExtensionRecord): Readable {
    const { db, blobs, box } = this.#options
    const key = Buffer.from(box.open(sealed_key, keyContext(id)), 'base64')
    const sizeBytes = Number(archive_bytes)
    const read = (range: { start: number; end: number }) =>
      blobs.readOften(db, blob_id ?? '', range).catch((error: unknown) => {
        if (!(error instanceof BlobMissing)) throw error
        throw new AppError('invalid_state', `Cannot read extension "${id}": its archive is gone`, {
          cause: error,
        })
      })
    return openContent(
      read,
      { key, context: contentContext(id) },
      { sizeBytes, start: 0, end: sizeBytes - 1 },
    )
  }

  /** An early check, before the work; inserting the row checks again. */
  async #checkPlace(projectId: string, name: string | null): Promise<void> {
    const { db } = this.#options
    if (name !== null && (await store.findExtensionBy(db, projectId, { name })))
      throw nameTaken(name, 'extension of the project')
    if ((await store.countExtensions(db, projectId)) >= MAX_EXTENSIONS) {
      throw new AppError(
        'conflict',
        `Cannot take the extension: the project has ${MAX_EXTENSIONS} of them; delete one first`,
      )
    }
  }

  async #check(
    { handle, size }: SpooledFile,
    projectId: string,
    signal: AbortSignal,
  ): Promise<CheckedArchive> {
    const turn = await this.#checks.enter(projectId, { action: 'check the extension', signal })
    const late = AbortSignal.timeout(CHECK_TIMEOUT_MS)
    try {
      return await checkArchive(handle, size, AbortSignal.any([signal, late]))
    } catch (error) {
      signal.throwIfAborted()
      if (!late.aborted) throw error
      const limit = `${CHECK_TIMEOUT_MS / 1000} s`
      throw invalidInput('file', `takes longer than ${limit} to unpack; send fewer or smaller files`)
    } finally {
      turn[Symbol.dispose]()
    }
  }

  async #keep(
    id: string,
    archive: CheckedArchive,
    signal: AbortSignal,
  ): Promise<{ blob: Blob; archiveBytes: number; sealedKey: Buffer }> {
    const { blobs, box } = this.#options
    const key = randomBytes(CONTENT_KEY_BYTES)
    const sealer = new ContentSealer({ key, context: contentContext(id) })
    let archiveBytes = 0
    const content = archive.content()
    content.on('data', (chunk: Buffer) => (archiveBytes += chunk.length))
    content.once('error', (error) => sealer.destroy(error))
    const blob = await blobs.put(content.pipe(sealer), { maxBytes: MAX_SEALED_BYTES, signal })
    return { blob, archiveBytes, sealedKey: box.seal(key.toString('base64'), keyContext(id)) }
  }
}

const keyContext = (id: string) => `extensions/sealed_key/${id}`
const contentContext = (id: string) => `extensions/archive/${id}`

async function find(db: Db, caller: Caller, idOrName: string): Promise<ExtensionRecord> {
  const record = await store.findExtension(db, projectOf(caller), idOrName)
  if (!record) throw notFound(idOrName)
  return record
}

function notFound(idOrName: string): AppError {
  return new AppError('not_found', `Cannot find extension "${idOrName}"`)
}

function toExtension(record: ExtensionRecord): Extension {
  return {
    id: record.id,
    created_at: record.created_at,
    size_bytes: Number(record.size_bytes),
    checksum: record.sha256,
    manifest: { name: record.manifest_name, version: record.manifest_version },
    ...(record.name !== null && { name: record.name }),
    ...(record.last_used_at !== null && { last_used_at: record.last_used_at }),
  }
}
