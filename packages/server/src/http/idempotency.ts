// Requests with the same Idempotency-Key have one effect and one answer. The key's row is written in
// the transaction of the effect: a second request waits for the first, on a lock or on the unique index,
// and then reads its answer. A crash leaves both or neither.
import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../platform/database/schema.ts'
import { AppError, invalidInput } from '../platform/errors/app-error.ts'
import type { HousekeepingTask } from '../platform/jobs/housekeeping.ts'
import type { SealedBox } from '../platform/secrets/sealed-box.ts'
import type { Principal } from './principal.ts'

const KEPT_HOURS = 24
const MAX_ANSWER_BYTES = 64 * 1024

export interface IdempotentRequest {
  readonly scope: string
  readonly key: string
  readonly hash: Buffer
}

/** The name of the lock that requests with the same key wait for. */
export function lockOf({ scope, key }: IdempotentRequest): string {
  return `idempotency-key/${scope}/${key}`
}

export class IdempotentAnswers {
  readonly #box: SealedBox
  readonly #secret: Uint8Array

  /** Requests hold passwords. Without the secret, a reader of the rows could guess them from the hashes. */
  constructor({ box, secret }: { box: SealedBox; secret: Uint8Array }) {
    this.#box = box
    this.#secret = secret
  }

  read(
    value: string | string[] | undefined,
    request: { principal: Principal; projectId: string | null; operationId: string; input: unknown },
  ): IdempotentRequest | undefined {
    if (value === undefined) return undefined
    if (typeof value !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(value)) {
      throw invalidInput('Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
    }
    const { principal, projectId, operationId, input } = request
    return {
      scope: principal.projectId ?? 'organization',
      key: value,
      hash: createHmac('sha256', this.#secret)
        .update(JSON.stringify([operationId, projectId, input]))
        .digest(),
    }
  }

  /** Claims the key for this transaction, or returns the answer of an earlier request. */
  async claim(tx: Db, request: IdempotentRequest): Promise<{ replay: unknown } | undefined> {
    const { scope, key, hash } = request
    const claimed = await tx
      .insertInto('idempotency_keys')
      .values({ scope, key, request_hash: hash, status: null, response: null })
      .onConflict((conflict) =>
        conflict
          .columns(['scope', 'key'])
          .doUpdateSet({ request_hash: hash, created_at: sql`now()`, response: null, status: null })
          .where(isOld),
      )
      .returning('key')
      .executeTakeFirst()
    return claimed ? undefined : this.#replay(request, (await find(tx, request))!)
  }

  /** The answer of an earlier request, if there is one. */
  async earlier(db: Db, request: IdempotentRequest): Promise<{ replay: unknown } | undefined> {
    const row = await find(db, request)
    return row && !row.isOld ? this.#replay(request, row) : undefined
  }

  #replay(request: IdempotentRequest, row: KeptRow): { replay: unknown } {
    const { key, hash } = request
    if (!row.request_hash.equals(hash)) {
      throw new AppError(
        'idempotency_key_reused',
        `Cannot repeat "${key}": that Idempotency-Key was used with another request; choose a new one`,
      )
    }
    if (!row.response) {
      throw new AppError(
        'conflict',
        `Cannot repeat "${key}": the request succeeded, but its answer was too large to keep`,
      )
    }
    return { replay: JSON.parse(this.#box.open(row.response, contextOf(request))) as unknown }
  }

  async keep(
    tx: Db,
    request: IdempotentRequest,
    { status, answer, onceOnly }: { status: number; answer: unknown; onceOnly: readonly string[] },
  ): Promise<void> {
    const text = JSON.stringify(answer, (name, value: unknown) =>
      onceOnly.includes(name) ? undefined : value,
    )
    await tx
      .updateTable('idempotency_keys')
      .set({
        status,
        response: text.length > MAX_ANSWER_BYTES ? null : this.#box.seal(text, contextOf(request)),
      })
      .where('scope', '=', request.scope)
      .where('key', '=', request.key)
      .execute()
  }
}

const isOld = sql<boolean>`idempotency_keys.created_at < now() - make_interval(hours => ${sql.lit(KEPT_HOURS)})`

interface KeptRow {
  readonly request_hash: Buffer
  readonly response: Buffer | null
}

function find(
  db: Db,
  { scope, key }: IdempotentRequest,
): Promise<(KeptRow & { isOld: boolean }) | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'response', isOld.as('isOld')])
    .where('scope', '=', scope)
    .where('key', '=', key)
    .executeTakeFirst()
}

function contextOf({ scope, key }: IdempotentRequest): string {
  return `idempotency_keys/response/${scope}/${key}`
}

export const idempotencyRetention: HousekeepingTask = {
  name: 'idempotent answers',
  run: ({ alone }) => alone(forgetOldAnswers),
}

async function forgetOldAnswers(db: Db): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('created_at', '<', sql<string>`now() - make_interval(hours => ${sql.lit(KEPT_HOURS)})`)
    .execute()
}
