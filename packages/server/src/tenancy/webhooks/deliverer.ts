// Delivers stored events to receivers, at least once. Any server may send any event that it has leased in the database. How
// an attempt went is stored after it, so when a server is killed in between, another one sends the event again. Where a
// delivery stands is in the database only.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { newId } from '@berth/kit/ids'
import { pause } from '@berth/kit/pause'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import * as store from './delivery-store.ts'
import type { Claim } from './delivery-store.ts'
import { disableIfHopeless } from './disabling.ts'
import { openSecrets } from './secret.ts'
import type { WebhookSender } from './sender.ts'
import type { Attempt } from './types.ts'

/** While some webhook is enabled. Events are not announced. */
const LOOK_EVERY_MS = 500
/** While none is; the first one is announced, but an announcement may be missed. */
const IDLE_MS = 15_000
/** Between looks when there is much to do. */
const MIN_PAUSE_MS = 50
/** Events that this server sends at once. Most of the time, each only waits for its receiver. */
const MAX_AT_ONCE = 500
const MAX_PER_PROJECT = 100
/** Of receivers that fail again and again, so that the others always have places. */
const MAX_FAILING = 200
/** A server that stops lets receivers answer for so long. */
const GRACE_MS = 2_000

export interface DelivererOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly sender: WebhookSender
  readonly serverId: string
  readonly log: Logger
}

export class WebhookDeliverer {
  readonly #options: DelivererOptions
  readonly #stopping = new AbortController()
  readonly #cutting = new AbortController()
  readonly #underWay = new Map<Claim, Promise<void>>()
  readonly counts = { delivered: 0, failures: 0 }
  #loop: Promise<void> | undefined
  #isWoken = false
  #wake: (() => void) | undefined

  constructor(options: DelivererOptions) {
    this.#options = options
  }

  get underWay(): number {
    return this.#underWay.size
  }

  async start(): Promise<void> {
    const { db, serverId } = this.#options
    // From before this server was killed.
    await store.releaseLeases(db, serverId)
    this.#loop ??= this.#run()
  }

  /** A webhook has changed, or something can be sent. */
  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#isWoken = false
      const waitMs = await this.#look().catch((error: unknown) => {
        this.#options.log.debug({ err: error }, 'cannot look for webhook events to send')
        return LOOK_EVERY_MS
      })
      await pause(MIN_PAUSE_MS, signal)
      await this.#sleep(waitMs)
    }
  }

  async #sleep(ms: number): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    if (!this.#isWoken && !this.#stopping.signal.aborted) await pause(ms, woken.signal)
    this.#wake = undefined
  }

  /** Begins what is due and has a place. Returns how long to wait for more. */
  async #look(): Promise<number> {
    const { db, pool, serverId } = this.#options
    const limit = MAX_AT_ONCE - this.#underWay.size
    // Whoever leaves a place wakes the loop.
    if (limit <= 0) return LOOK_EVERY_MS
    const { projects, failing } = this.#crowds()
    const claims = await inTransaction(pool, ({ db: tx }) =>
      store.claimDue(tx, {
        serverId,
        leaseId: newId(),
        limit,
        withoutProjects: projects,
        withoutFailing: failing >= MAX_FAILING,
      }),
    )
    for (const claim of claims) this.#begin(claim)
    if (claims.length > 0) return 0
    return (await store.hasListeners(db)) ? LOOK_EVERY_MS : IDLE_MS
  }

  #crowds(): { projects: string[]; failing: number } {
    const counts = new Map<string, number>()
    let failing = 0
    for (const { webhook } of this.#underWay.keys()) {
      counts.set(webhook.project_id, (counts.get(webhook.project_id) ?? 0) + 1)
      if (store.isFailing(webhook)) failing++
    }
    const full = [...counts].filter(([, count]) => count >= MAX_PER_PROJECT)
    return { projects: full.map(([id]) => id), failing }
  }

  #begin(claim: Claim): void {
    const work = this.#deliver(claim)
      .catch((error: unknown) => {
        if (this.#cutting.signal.aborted) return
        // Its lease runs out, and it is sent again.
        this.#options.log.warn(
          { err: error, webhookId: claim.webhook.id, eventId: claim.message.id },
          'cannot deliver a webhook event yet',
        )
      })
      .finally(() => {
        this.#underWay.delete(claim)
        this.wake()
      })
    this.#underWay.set(claim, work)
  }

  async #deliver(claim: Claim): Promise<void> {
    const { box, sender } = this.#options
    const { webhook, message } = claim
    const secrets = openSecrets(box, webhook)
    const attempt = await sender.send({ url: webhook.url, secrets, message }, this.#cutting.signal)
    crashPoint('webhook-sent')
    await this.#keep(claim, attempt)
    if (attempt.error === null) this.counts.delivered++
    else this.counts.failures++
  }

  async #keep(claim: Claim, attempt: Attempt): Promise<void> {
    const { pool, log } = this.#options
    const { id, consecutive_failures: failures } = claim.webhook
    const disabled = await inTransaction(pool, async ({ db: tx }) => {
      const webhook = await store.keepResult(tx, claim, attempt)
      return webhook && attempt.error !== null ? disableIfHopeless(tx, webhook, attempt) : undefined
    })
    if (attempt.error === null) return
    // The owner sees it at the webhook; the operator only the first time.
    const level = failures === 0 ? 'info' : 'debug'
    log[level]({ webhookId: id, reason: attempt.error }, 'a receiver did not take a webhook event')
    if (disabled) log.warn({ webhookId: id, disabledBy: disabled }, 'a webhook was disabled')
  }

  /** What is cut off is sent again by the next server. */
  async close(): Promise<void> {
    const { db, serverId, log } = this.#options
    this.#stopping.abort(new Error('This server no longer delivers webhook events'))
    this.#wake?.()
    await this.#loop
    const cut = setTimeout(() => this.#cutting.abort(new Error('This server is stopping')), GRACE_MS)
    await Promise.all(this.#underWay.values())
    clearTimeout(cut)
    await store
      .releaseLeases(db, serverId)
      .catch((error: unknown) =>
        log.debug({ err: error }, 'cannot give webhook events back; their leases run out'),
      )
  }
}
