// Extensions of a project that a session is created with. They go into the instance as they would go into a running
// session, once its Chromium is there: that takes no restart, so settled instances are as good as any.
import { Readable } from 'node:stream'
import { MOST_EXTENSIONS } from '@berth/contracts/extension-limits'
import { loadExtensions, type ExtensionReference } from '@berth/contracts/extensions'
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import { randomText } from '@berth/kit/ids'
import type { Carried, Carrier, Looking } from '../browsers/carried.ts'
import type { NewBrowser } from '../browsers/types.ts'
import { refusalOf } from '../control/controls.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors.ts'
import { AgentError } from '../../instances/agent-client.ts'
import type { ReadyInstance } from '../../instances/instances.ts'
import * as store from './store.ts'
import type { ExtensionRecord } from './types.ts'

const ALL_OF_THEM_MS = 60_000

export interface ExtensionCarrierOptions {
  readonly db: Db
  readonly contentOf: (record: ExtensionRecord) => Readable
}

export class ExtensionCarrier implements Carrier {
  readonly #options: ExtensionCarrierOptions

  constructor(options: ExtensionCarrierOptions) {
    this.#options = options
  }

  async carry(
    { extensions = [] }: Pick<CreateBrowserRequest, 'extensions'>,
    { projectId }: Pick<NewBrowser, 'projectId'>,
    { db }: Pick<Looking, 'db'>,
  ): Promise<Carried | undefined> {
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

  /** Throws for the first that is not there. */
  async find(
    projectId: string,
    references: readonly ExtensionReference[],
    db = this.#options.db,
  ): Promise<ExtensionRecord[]> {
    if (references.length > MOST_EXTENSIONS) {
      throw invalidInput('extensions', `must have at most ${MOST_EXTENSIONS} items`)
    }
    const found = new Map<string, ExtensionRecord>()
    for (const [index, { id, name }] of references.entries()) {
      const field = `extensions.${index}`
      if ((id === undefined) === (name === undefined)) {
        throw invalidInput(field, 'must have exactly one of id and name')
      }
      const reference = id === undefined ? { name: name! } : { id }
      const record = await store.findExtensionBy(db, projectId, reference)
      if (!record) throw invalidInput(field, `names "${id ?? name}", which is no extension of the project`)
      if (found.has(record.id)) throw invalidInput(field, 'is there twice')
      found.set(record.id, record)
    }
    return [...found.values()]
  }

  async #load({ agent }: ReadyInstance, extensions: readonly ExtensionRecord[]): Promise<void> {
    const boundary = `berth-${randomText(24)}`
    const body = Readable.from(this.#form(extensions, boundary), { objectMode: false })
    const failed = Promise.withResolvers<never>()
    failed.promise.catch(() => {})
    // What cannot be read ends the request, and is the reason that counts.
    body.once('error', (error) => failed.reject(error))
    const answered = agent.forward({
      method: 'POST',
      path: '/control/extensions',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body,
      signal: AbortSignal.timeout(ALL_OF_THEM_MS),
    })
    const answer = await Promise.race([answered, failed.promise])
    if (answer.statusCode === 204) return void answer.resume()
    const refusal = await refusalOf(answer, loadExtensions)
    throw refusal instanceof AgentError ? refusal : notLoaded(refusal)
  }

  /** As the agent reads it from anybody. */
  async *#form(extensions: readonly ExtensionRecord[], boundary: string): AsyncGenerator<string | Buffer> {
    for (const [index, record] of extensions.entries()) {
      const part = (field: string) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="extensions[${index}][${field}]"\r\n\r\n`
      yield `${part('name')}${record.name ?? record.id}\r\n${part('zip_file')}`
      yield* this.#options.contentOf(record) as AsyncIterable<Buffer>
      yield '\r\n'
    }
    yield `--${boundary}--\r\n`
  }
}

function notLoaded(refusal: AppError): AppError {
  const message = `extensions: ${refusal.message}`
  return new AppError(refusal.code, `Cannot create a session: ${message}`, {
    ...(refusal.code === 'bad_request' && { details: [{ code: 'invalid_input', message }] }),
    cause: refusal,
  })
}
