// Assembles webhooks.
import type { Route } from '../../http/call.ts'
import type { Platform } from '../../platform/module.ts'
import { WebhookDeliverer } from './deliverer.ts'
import { webhookRoutes } from './routes.ts'
import { WebhookSender } from './sender.ts'
import { WebhookService } from './service.ts'
import { trimDeliveries } from './trimming.ts'
import type { WebhookNetwork } from './types.ts'
import { WebhookWatch, type WebhookWatchOptions } from './watch.ts'

export interface Webhooks {
  readonly routes: readonly Route[]
  start(): Promise<void>
  close(): Promise<void>
}

export function newWebhooks(
  { db, pool, box, changes, metrics, serverId, log }: Platform,
  options: { network: WebhookNetwork; version: string; maxDeliveries: number } & Pick<
    WebhookWatchOptions,
    'usesOf'
  >,
): Webhooks {
  const { network, version, maxDeliveries, usesOf } = options
  const sender = new WebhookSender({ network, version })
  const deliverer = new WebhookDeliverer({ db, pool, box, sender, serverId, log })
  const watch = new WebhookWatch({
    db,
    pool,
    usesOf,
    trim: (signal) => trimDeliveries({ db, pool, maxDeliveries, log }, signal),
    log,
  })
  changes.on('rowChanged', ({ kind }) => {
    if (kind === 'webhook') deliverer.wake()
  })
  changes.on('unknownChange', () => deliverer.wake())
  metrics.counterBy('result', {
    name: 'berth_webhook_attempts_total',
    help: 'Webhook events that receivers accepted from this server, and attempts that failed',
    read: () => ({ delivered: deliverer.counts.delivered, failed: deliverer.counts.failures }),
  })
  metrics.gauge({
    name: 'berth_webhook_deliveries_under_way',
    help: 'Webhook events that this server sends at the moment',
    read: () => deliverer.underWay,
  })
  return {
    routes: webhookRoutes(new WebhookService({ db, box, network, sender })),
    start: async () => {
      await deliverer.start()
      watch.start()
    },
    close: async () => {
      await Promise.all([deliverer.close(), watch.close()])
    },
  }
}
