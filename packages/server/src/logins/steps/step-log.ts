// Writes the steps of a login while it runs, and reads them again. A step that cannot be written is lost, and the login
// goes on: it is worth more than its explanation.
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Logger } from 'pino'
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import type { ExplainedStep, Outline, ReasonId } from '@berth/login/run/step'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { places } from './places.ts'
import * as store from './store.ts'

/** The first and the last are kept: a login begins and ends where it matters. */
const MAX_FIRST = 30
const MAX_LAST = 30
const MAX_WORDS = 1_000
const MAX_PAGE_BYTES = 512 * 1024
const MAX_ENTRY_BYTES = 4 * 1024 * 1024
const MAX_UNPACKED_BYTES = 8 * 1024 * 1024

/** What is read without the page. */
export interface StepWords {
  readonly reason: ReasonId
  readonly saw: string
  readonly did: readonly string[]
  readonly url: string | undefined
  readonly title: string | undefined
  readonly isPhoto: boolean
}

export interface StepPage {
  readonly page: PageSnapshot
  readonly read: Outline | undefined
  readonly photo: string | undefined
}

export interface ReadStep extends StepWords {
  readonly number: number
  readonly at: string
  readonly hasPage: boolean
}

export interface StepWriter {
  add(step: ExplainedStep): void
  /** Resolves when everything so far is written or lost. */
  written(): Promise<void>
}

export class StepLog {
  readonly #db: Db
  readonly #box: SealedBox
  readonly #log: Logger

  constructor({ db, box, log }: { db: Db; box: SealedBox; log: Logger }) {
    this.#db = db
    this.#box = box
    this.#log = log
  }

  writerFor(entry: store.Entry): StepWriter {
    let writes = Promise.resolve()
    let number: number | undefined
    let bytes = 0
    // After a restart, another engine counts from 0 again.
    const numbers = new Map<number, number>()
    const write = async (step: ExplainedStep) => {
      number ??= await store.lastNumber(this.#db, store.entryIdOf(entry))
      const before = numbers.get(step.index)
      if (before !== undefined) return this.#replace(step, entry, before)
      number += 1
      numbers.set(step.index, number)
      const sealedPage = bytes < MAX_ENTRY_BYTES ? this.#sealPage(step, entry, number) : null
      bytes += sealedPage?.length ?? 0
      const sealed = this.#box.seal(
        JSON.stringify(wordsOf(step)),
        places.words(store.entryIdOf(entry), number),
      )
      await store.insertStep(this.#db, entry, { number, at: step.at, sealed, sealedPage })
      const old = number - MAX_LAST
      if (old > MAX_FIRST) await store.deleteStep(this.#db, store.entryIdOf(entry), old)
    }
    return {
      add: (step) => {
        writes = writes
          .then(() => write(step))
          .catch((err: unknown) => this.#log.warn({ err, ...entry }, 'cannot write a step of a login'))
      },
      written: () => writes,
    }
  }

  /** A value became known that the page had shown: now it is masked. */
  async #replace(step: ExplainedStep, entry: store.Entry, number: number): Promise<void> {
    const entryId = store.entryIdOf(entry)
    await store.replaceStep(this.#db, entryId, {
      number,
      sealed: this.#box.seal(JSON.stringify(wordsOf(step)), places.words(entryId, number)),
      sealedPage: this.#sealPage(step, entry, number),
    })
  }

  async list(db: Db, entryId: string): Promise<ReadStep[]> {
    const rows = await store.listSteps(db, entryId)
    return rows.map(({ number, sealed, created_at: at, has_page: hasPage }) => ({
      // SAFETY: we sealed it above.
      ...(JSON.parse(this.#box.open(sealed, places.words(entryId, number))) as StepWords),
      number,
      at,
      hasPage,
    }))
  }

  async page(db: Db, entryId: string, number: number): Promise<StepPage> {
    const sealed = await store.findPage(db, entryId, number)
    if (!sealed) {
      throw new AppError('not_found', `Cannot find a picture of step ${number}: the step has no page`)
    }
    const packed = Buffer.from(this.#box.open(sealed, places.page(entryId, number)), 'base64')
    // SAFETY: we sealed it above.
    return JSON.parse(gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }).toString()) as StepPage
  }

  #sealPage({ page, read, photo }: ExplainedStep, entry: store.Entry, number: number): Buffer | null {
    if (!page) return null
    const kept: StepPage = { page, read, photo }
    const packed = gzipSync(JSON.stringify(kept)).toString('base64')
    if (packed.length > MAX_PAGE_BYTES) return null
    return this.#box.seal(packed, places.page(store.entryIdOf(entry), number))
  }
}

function wordsOf({ reason, saw, did, page, photo }: ExplainedStep): StepWords {
  return {
    reason,
    saw: saw.slice(0, MAX_WORDS),
    did: did.map((text) => text.slice(0, MAX_WORDS)),
    url: page?.url,
    title: page?.frames[0]?.title || undefined,
    isPhoto: photo !== undefined,
  }
}
