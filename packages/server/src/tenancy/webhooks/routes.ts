import * as contract from '@berth/contracts/webhooks'
import { route, type Route } from '../../http/call.ts'
import type { WebhookService } from './service.ts'

export function webhookRoutes(webhooks: WebhookService): Route[] {
  return [
    route(contract.createWebhook, (call) => webhooks.create(call, call.body, call)),
    route(contract.listWebhooks, (call) => webhooks.list(call.db, call, call.query)),
    route(contract.getWebhook, (call) => webhooks.get(call.db, call, call.params.id)),
    route(contract.updateWebhook, (call) => webhooks.update(call, call.params.id, call.body, call)),
    route(contract.deleteWebhook, (call) => webhooks.delete(call.db, call, call.params.id)),
    route(contract.testWebhook, (call) => webhooks.test(call, call.params.id, call)),
    route(contract.rotateWebhookSecret, (call) => webhooks.rotate(call.db, call, call.params.id, call.body)),
    route(contract.listWebhookDeliveries, (call) =>
      webhooks.listDeliveries(call.db, call, call.params.id, call.query),
    ),
    route(contract.getWebhookDelivery, (call) => webhooks.getDelivery(call.db, call, call.params)),
    route(contract.redeliverWebhook, (call) => webhooks.redeliver(call.db, call, call.params)),
  ]
}
