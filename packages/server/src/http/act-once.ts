// An act with an Idempotency-Key. A second request with the same key waits for the first, and gets its answer. While the
// act works it holds a lock and no connection to the database: hanging acts delay nobody else. Its transaction begins
// when it commits something, and ends with its answer: a crash before leaves no key behind. If the client leaves before
// the act is done, the key is free again and can be used for a new attempt.
import { sql } from 'kysely'
import { TooManyWaiting, type FairTurns } from '@berth/kit/fair-turns'
import type { Db } from '../platform/database/schema.ts'
import type { KeyLocks } from '../platform/database/key-locks.ts'
import type { Transaction } from '../platform/database/transaction.ts'
import { AppError } from '../platform/errors/app-error.ts'
import type { Commit } from './call.ts'
import { lockOf, type IdempotentAnswers, type IdempotentRequest } from './idempotency.ts'

/** Well below idle_in_transaction_session_timeout. */
const KEEP_ALIVE_MS = 5_000

export interface Outcome {
  readonly answer: unknown
  /** The answer is that of an earlier request. */
  readonly isRepeated: boolean
}

type Work = (tx: Db, alongCommit: Transaction['alongCommit']) => Promise<Outcome>

export interface ActOnceOptions {
  readonly request: IdempotentRequest
  readonly answers: IdempotentAnswers
  readonly locks: KeyLocks
  /** Each transaction may need a second connection to end, so not all connections may be in one. */
  readonly turns: FairTurns
  readonly projectId: string | null
  readonly db: Db
  readonly signal: AbortSignal
  /** Runs the work in a transaction, with the audit record. */
  readonly record: (work: Work) => Promise<unknown>
  readonly keep: { readonly status: number; readonly onceOnly: readonly string[] }
  readonly act: (commit: Commit) => Promise<unknown>
}

export async function actOnce(options: ActOnceOptions): Promise<Outcome> {
  const { request, answers, locks, db, signal } = options
  using lock = new DisposableStack()
  lock.use(await locks.enter(lockOf(request), signal).catch(tooManyAtOnce))
  const earlier = await answers.earlier(db, request)
  if (earlier) return { answer: earlier.replay, isRepeated: true }
  signal.throwIfAborted()
  const ending = new Ending(options)
  try {
    return await ending.end(await options.act(ending.commit))
  } catch (error) {
    return ending.fail(error)
  }
}

/** The transaction of an act, from its first commit to its answer. */
class Ending {
  readonly #options: ActOnceOptions
  readonly #answer = Promise.withResolvers<unknown>()
  #begun: Promise<Db> | undefined
  #recorded: Promise<unknown> | undefined
  #earlier: { readonly replay: unknown } | undefined

  constructor(options: ActOnceOptions) {
    this.#options = options
    this.#answer.promise.catch(() => {})
  }

  readonly commit: Commit = async (work) => work(await this.#begin())

  async end(answer: unknown): Promise<Outcome> {
    this.#answer.resolve(answer)
    await this.#begin()
    return { answer: await this.#recorded, isRepeated: false }
  }

  async fail(reason: unknown): Promise<Outcome> {
    this.#answer.reject(reason)
    await this.#recorded?.catch(() => {})
    // Without the lock, another server was faster. The act has undone what it did.
    if (this.#earlier) return { answer: this.#earlier.replay, isRepeated: true }
    throw reason
  }

  #begin(): Promise<Db> {
    if (!this.#begun) {
      const { promise, resolve, reject } = Promise.withResolvers<Db>()
      this.#begun = promise
      this.#recorded = this.#record(resolve)
      this.#recorded.catch(reject)
    }
    return this.#begun
  }

  async #record(begun: (tx: Db) => void): Promise<unknown> {
    const { request, answers, turns, projectId, signal, record, keep } = this.#options
    using turn = new DisposableStack()
    turn.use(await turns.enter(projectId ?? '', signal).catch(tooManyAtOnce))
    return await record(async (tx, alongCommit) => {
      this.#earlier = await answers.claim(tx, request)
      if (this.#earlier) throw new Error('The request was answered before')
      using held = new DisposableStack()
      held.use(keptAlive(tx))
      begun(tx)
      const answer = await this.#answer.promise
      alongCommit(() => answers.keep(tx, request, { ...keep, answer }))
      return { answer, isRepeated: false }
    })
  }
}

function tooManyAtOnce(error: unknown): never {
  if (!(error instanceof TooManyWaiting)) throw error
  throw new AppError(
    'too_many_requests',
    'Cannot take the request: too many with an Idempotency-Key wait already; send fewer at once',
    { headers: { 'retry-after': '1' }, cause: error },
  )
}

/** The act may go on for longer than a transaction may be idle. */
function keptAlive(tx: Db): Disposable {
  const timer = setInterval(() => {
    sql`SELECT 1`.execute(tx).catch(() => {})
  }, KEEP_ALIVE_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
