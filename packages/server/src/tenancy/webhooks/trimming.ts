// Keeps the log of each webhook bounded. Its oldest finished deliveries go first. When only waiting ones are left, the
// oldest of these go, too: the webhook counts them, and the server logs it.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import * as store from './trimming-store.ts'

/** Of one statement, so that nobody waits long for its locks. */
const BATCH = 2_000

export interface TrimmerOptions {
  readonly db: Db
  readonly pool: Pool
  /** Deliveries that a webhook may keep. */
  readonly maxDeliveries: number
  readonly log: Logger
}

export async function trimDeliveries(options: TrimmerOptions, signal: AbortSignal): Promise<void> {
  const { db, maxDeliveries } = options
  for (const full of await store.listFull(db, maxDeliveries)) {
    if (signal.aborted) return
    await trim(options, full, signal)
  }
}

async function trim(
  { pool, log }: TrimmerOptions,
  { id, excess }: store.FullWebhook,
  signal: AbortSignal,
): Promise<void> {
  let left = excess
  const shorten = async (step: (tx: Db, limit: number) => Promise<number>) => {
    let [all, last] = [0, BATCH]
    while (left > 0 && last === BATCH && !signal.aborted) {
      last = await inTransaction(pool, ({ db: tx }) => step(tx, Math.min(left, BATCH)))
      left -= last
      all += last
    }
    return all
  }
  await shorten((tx, limit) => store.deleteFinished(tx, id, limit))
  const dropped = await shorten((tx, limit) => store.dropWaiting(tx, id, limit))
  if (dropped === 0) return
  log.warn(
    { webhookId: id, events: dropped },
    'a webhook has more events waiting than BERTH_WEBHOOK_MAX_DELIVERIES; the oldest will not be sent',
  )
}
