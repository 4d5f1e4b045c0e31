// Loads extensions of a project into a new session, once its Chromium runs. That needs no restart, so warm instances
// can be used.
import type { Readable } from 'node:stream'
import { MAX_EXTENSIONS } from '@berth/contracts/extension-limits'
import type { ExtensionReference } from '@berth/contracts/extensions'
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { SessionExtra, ExtraSource, LookUp } from '../browsers/extras.ts'
import type { NewBrowser } from '../browsers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { ReadyInstance } from '../../instances/stock/instances.ts'
import { loadExtensions } from '../../instances/agent/extensions.ts'
import * as store from './store.ts'
import type { ExtensionRecord } from './types.ts'

export interface SessionExtensionsOptions {
  readonly db: Db
  readonly contentOf: (record: ExtensionRecord) => Readable
}

export class SessionExtensions implements ExtraSource {
  readonly #options: SessionExtensionsOptions

  constructor(options: SessionExtensionsOptions) {
    this.#options = options
  }

  async extraFor(
    { extensions = [] }: Pick<CreateBrowserRequest, 'extensions'>,
    { projectId }: Pick<NewBrowser, 'projectId'>,
    { db }: Pick<LookUp, 'db'>,
  ): Promise<SessionExtra | undefined> {
    if (extensions.length === 0) return undefined
    const found = await this.find(projectId, extensions, db)
    return {
      needsStart: false,
      refersTo: { extensionIds: found.map(({ id }) => id) },
      keep: async (tx) => {
        const used = await store.markUsed(
          tx,
          found.map(({ id }) => id),
        )
        if (used < found.length) throw invalidInput('extensions', 'has one that was deleted meanwhile')
      },
      complete: (ready) => this.#load(ready, found),
    }
  }

  /** Throws for the first missing extension. */
  async find(
    projectId: string,
    references: readonly ExtensionReference[],
    db = this.#options.db,
  ): Promise<ExtensionRecord[]> {
    if (references.length > MAX_EXTENSIONS) {
      throw invalidInput('extensions', `must have at most ${MAX_EXTENSIONS} items`)
    }
    const found = new Map<string, ExtensionRecord>()
    for (const [index, { id, name }] of references.entries()) {
      const field = `extensions.${index}`
      if ((id === undefined) === (name === undefined)) {
        throw invalidInput(field, 'must have exactly one of id and name')
      }
      const byId = id === undefined ? undefined : await store.findExtensionBy(db, projectId, { id })
      // The published command line takes a name of 24 letters and digits for an id.
      const record = byId ?? (await store.findExtensionBy(db, projectId, { name: id ?? name! }))
      if (!record) throw invalidInput(field, `names "${id ?? name}", which is no extension of the project`)
      if (found.has(record.id)) throw invalidInput(field, 'is there twice')
      found.set(record.id, record)
    }
    return [...found.values()]
  }

  async #load({ agent }: ReadyInstance, extensions: readonly ExtensionRecord[]): Promise<void> {
    const contents = extensions.map((record) => ({
      name: record.name ?? record.id,
      open: () => this.#options.contentOf(record),
    }))
    try {
      await loadExtensions(agent, contents)
    } catch (error) {
      throw error instanceof AppError ? notLoaded(error) : error
    }
  }
}

function notLoaded(refusal: AppError): AppError {
  const message = `extensions: ${refusal.message}`
  return new AppError(refusal.code, `Cannot create a session: ${message}`, {
    ...(refusal.code === 'bad_request' && { details: [{ code: 'invalid_input', message }] }),
    cause: refusal,
  })
}
