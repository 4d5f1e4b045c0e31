// Webhooks of a project: who may have which, and what people do with their deliveries.
import {
  scopeOfEvent,
  TEST_EVENT,
  webhookEventTypes,
  type WebhookEventType,
} from '@berth/contracts/webhook-event-types'
import type {
  CreateWebhookRequest,
  DeliveryState,
  RotateWebhookRequest,
  UpdateWebhookRequest,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookStatus,
  WebhookTestResult,
  WebhookWithSecret,
} from '@berth/contracts/webhooks'
import { newId } from '@berth/kit/ids'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import type { Commit, OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { hasScope, projectOf, type Principal } from '../../http/principal.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { findDefaultProject, findProjectBy, lockProjects } from '../projects/store.ts'
import * as log from './delivery-log-store.ts'
import { newSecret, openSecrets, sealSecret } from './secret.ts'
import type { WebhookSender } from './sender.ts'
import * as store from './store.ts'
import type { WebhookNetwork, WebhookRecord } from './types.ts'
import { toAttempt, toDelivery, toEvent, toWebhook } from './view.ts'
import { readUrl } from './url.ts'

export const MAX_WEBHOOKS = 20
/** Tests of a project that a server runs at once. */
const MAX_TESTS = 4
const DEFAULT_OVERLAP_HOURS = 24

/** The origin of a call: its key and the project from a header. */
interface Caller {
  readonly principal: Principal
  readonly projectId: string | null
}

/** The request behind a change. */
interface Act {
  readonly commit: Commit
  readonly signal: AbortSignal
}

export interface WebhookServiceOptions {
  readonly db: Db
  readonly box: SealedBox
  readonly network: WebhookNetwork
  readonly sender: WebhookSender
}

export class WebhookService {
  readonly #options: WebhookServiceOptions
  readonly #tests = new KeyedLimit(MAX_TESTS)

  constructor(options: WebhookServiceOptions) {
    this.#options = options
  }

  async create(
    caller: Caller,
    body: CreateWebhookRequest,
    { commit, signal }: Act,
  ): Promise<WebhookWithSecret> {
    const { box } = this.#options
    const { event_types: eventTypes = [], description } = body
    expectReading(caller.principal, eventTypes)
    const url = await this.#checkUrl(body.url, signal)
    return commit(async (tx) => {
      // Otherwise the project could be deleted as empty before this webhook is in it.
      await lockProjects(tx)
      const projectId = projectOf(caller) ?? (await findDefaultProject(tx)).id
      const project = await findProjectBy(tx, 'id', projectId)
      if (project?.status !== 'active') {
        throw new AppError('project_not_found', `Cannot find an active project "${projectId}"`)
      }
      if ((await store.countWebhooks(tx, projectId)) >= MAX_WEBHOOKS) {
        throw new AppError(
          'conflict',
          `Cannot create a webhook: the project has ${MAX_WEBHOOKS} already; delete one`,
        )
      }
      const id = newId()
      const secret = newSecret()
      const sealedSecret = sealSecret(box, id, secret, 'sealed_secret')
      const values = { id, projectId, url, description: description || null, eventTypes, sealedSecret }
      return { ...toWebhook(await store.insertWebhook(tx, values)), secret }
    })
  }

  async list(
    db: Db,
    caller: Caller,
    query: { limit?: number; offset?: number; query?: string; status?: WebhookStatus },
  ): Promise<OffsetPage<Webhook[]>> {
    const { limit = 20, offset = 0, ...filters } = query
    const rows = await store.listWebhooks(db, projectOf(caller), { ...filters, limit: limit + 1, offset })
    return toPage(
      rows.map((row) => toWebhook(row)),
      limit,
    )
  }

  async get(db: Db, caller: Caller, id: string): Promise<Webhook> {
    return toWebhook(await find(db, caller, id))
  }

  async update(
    caller: Caller,
    id: string,
    body: UpdateWebhookRequest,
    { commit, signal }: Act,
  ): Promise<Webhook> {
    const { event_types: eventTypes, description, status } = body
    await find(this.#options.db, caller, id)
    const url = body.url === undefined ? undefined : await this.#checkUrl(body.url, signal)
    return commit(async (tx) => {
      const before = await lock(tx, caller, id)
      // Who sends events elsewhere, or enables what was stopped, must be able to read all that is sent.
      if (eventTypes || url !== undefined || status === 'enabled') {
        expectReading(caller.principal, eventTypes ?? before.event_types)
      }
      const updated = await store.updateWebhook(tx, id, {
        ...(url !== undefined && { url }),
        ...(description !== undefined && { description: description || null }),
        ...(eventTypes && { eventTypes }),
        ...(status && status !== before.status && { status }),
      })
      await log.tryAllNow(tx, id)
      return toWebhook(updated)
    })
  }

  async delete(tx: Db, caller: Caller, id: string): Promise<void> {
    const record = await store.lockWebhook(tx, projectOf(caller), id)
    if (!record) throw notFound(id)
    // Deleting twice succeeds, because a client that lost the first answer repeats the request.
    if (record.deleted_at === null) await store.markWebhookDeleted(tx, id)
  }

  async test(caller: Caller, id: string, { commit, signal }: Act): Promise<WebhookTestResult> {
    const { db, box, sender } = this.#options
    const webhook = await find(db, caller, id)
    using place = this.#tests.enter(webhook.project_id)
    if (!place) {
      throw new AppError(
        'too_many_requests',
        `Cannot test the webhook: ${MAX_TESTS} tests of the project are under way; wait for one to end`,
        { headers: { 'retry-after': '5' } },
      )
    }
    const message = {
      id: newId('evt_'),
      type: TEST_EVENT,
      timestamp: new Date().toISOString(),
      data: { webhook_id: id, project_id: webhook.project_id },
    }
    const attempt = await sender.send(
      { url: webhook.url, secrets: openSecrets(box, webhook), message },
      signal,
    )
    return commit(async (tx) => {
      await lock(tx, caller, id)
      await log.insertTest(tx, id, { message, attempt })
      const { durationMs, status, answer, error } = attempt
      return {
        success: error === null,
        delivery_id: message.id,
        duration_ms: durationMs,
        status,
        answer,
        error,
      }
    })
  }

  async rotate(
    tx: Db,
    caller: Caller,
    id: string,
    { overlap_hours: overlapHours = DEFAULT_OVERLAP_HOURS }: RotateWebhookRequest,
  ): Promise<WebhookWithSecret> {
    const { box } = this.#options
    const before = await lock(tx, caller, id)
    const { current } = openSecrets(box, before)
    const secret = newSecret()
    const rotation = {
      sealed: sealSecret(box, id, secret, 'sealed_secret'),
      sealedOld: overlapHours === 0 ? null : sealSecret(box, id, current, 'sealed_old_secret'),
      overlapHours,
    }
    return { ...toWebhook(await store.updateWebhook(tx, id, { rotation })), secret }
  }

  async listDeliveries(
    db: Db,
    caller: Caller,
    id: string,
    query: { limit?: number; offset?: number; state?: DeliveryState; type?: string },
  ): Promise<OffsetPage<WebhookDelivery[]>> {
    const { limit = 20, offset = 0, ...filters } = query
    await find(db, caller, id)
    const rows = await log.listDeliveries(db, id, { ...filters, limit: limit + 1, offset })
    return toPage(rows.map(toDelivery), limit)
  }

  async getDelivery(
    db: Db,
    caller: Caller,
    { id, delivery_id: eventId }: { id: string; delivery_id: string },
  ): Promise<WebhookDeliveryDetails> {
    await find(db, caller, id)
    const record = await log.findDelivery(db, id, eventId)
    if (!record) throw deliveryNotFound(eventId)
    const attempts = await log.listAttempts(db, record.seq)
    return { ...toDelivery(record), event: toEvent(record), log: attempts.map(toAttempt) }
  }

  async redeliver(
    tx: Db,
    caller: Caller,
    { id, delivery_id: eventId }: { id: string; delivery_id: string },
  ): Promise<WebhookDelivery> {
    const webhook = await lock(tx, caller, id)
    if (webhook.status === 'disabled') {
      throw new AppError(
        'conflict',
        `Cannot send event "${eventId}" again: the webhook is disabled; enable it first`,
      )
    }
    const record = await log.redeliver(tx, id, eventId)
    if (!record) throw deliveryNotFound(eventId)
    return toDelivery(record)
  }

  async #checkUrl(text: string, signal: AbortSignal): Promise<string> {
    const url = readUrl(text)
    const refusal = await this.#options.network.refusalOf(url, signal)
    if (refusal !== undefined) throw invalidInput('url', refusal)
    return text
  }
}

/** A key may not hear through a webhook what it may not read. */
function expectReading(principal: Principal, eventTypes: readonly WebhookEventType[]): void {
  const wanted = eventTypes.length === 0 ? webhookEventTypes : eventTypes
  const missing = new Set(wanted.map(scopeOfEvent).filter((scope) => !hasScope(principal, scope)))
  if (missing.size === 0) return
  const remedy =
    eventTypes.length === 0 ? 'choose event_types that it may read' : 'leave their event_types out'
  throw new AppError(
    'forbidden',
    `Cannot send these events: the key lacks ${[...missing].join(', ')}; ${remedy}, or use another key`,
  )
}

async function find(db: Db, caller: Caller, id: string): Promise<WebhookRecord> {
  const record = await store.findWebhook(db, projectOf(caller), id)
  if (!record) throw notFound(id)
  return record
}

async function lock(tx: Db, caller: Caller, id: string): Promise<WebhookRecord> {
  const record = await store.lockWebhook(tx, projectOf(caller), id)
  if (!record || record.deleted_at !== null) throw notFound(id)
  return record
}

const notFound = (id: string) => new AppError('not_found', `Cannot find webhook "${id}"`)
const deliveryNotFound = (id: string) =>
  new AppError('not_found', `Cannot find delivery "${id}" of this webhook`)
