// Addresses that Berth tells what happens in a project.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, Open, pageQuery, resourceId, Text, Timestamp } from './schema.ts'
import { TEST_EVENT, webhookEventTypes } from './webhook-event-types.ts'
import { WebhookEvent } from './webhook-events.ts'

const tag = 'Webhooks'

const MAX_URL_LENGTH = 2048
/** Bytes that are kept of what a receiver answers. */
export const MAX_ANSWER_BYTES = 2048
/** How long requests may be signed with the secret from before a rotation. */
export const MAX_OVERLAP_HOURS = 168

export const webhookStatuses = ['enabled', 'disabled'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]
export const deliveryStates = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

const about = {
  url: 'Where events are sent by POST, over https. It must lead to public addresses, or to what BERTH_WEBHOOK_ALLOW lists',
  description: 'Description',
  event_types: 'Types of events that are sent. Empty: all, also those that a later version adds',
}
const fields = {
  url: Text({ description: about.url, minLength: 1, maxLength: MAX_URL_LENGTH }),
  description: Text({ description: about.description, maxLength: 1024 }),
  event_types: Type.Array(OneOf(webhookEventTypes, { description: 'A type' }), {
    maxItems: webhookEventTypes.length,
    uniqueItems: true,
    description: about.event_types,
  }),
}

const webhook = {
  id: Type.String({ description: 'Unique id' }),
  project_id: Type.String({ description: 'The project whose events are sent' }),
  url: Type.String({ description: about.url }),
  description: Type.Optional(Type.String({ description: about.description })),
  event_types: fields.event_types,
  status: OneOf(webhookStatuses, { description: 'Only an enabled webhook gets events' }),
  disabled_by: Type.Optional(
    OneOf(['user', 'failures', 'receiver'] as const, {
      description:
        'Why it is disabled: somebody did it; every delivery of days failed; the receiver answered 410',
    }),
  ),
  old_secret_until: Type.Optional(
    Timestamp('After a rotation: until then, requests are also signed with the secret from before'),
  ),
  consecutive_failures: Type.Integer({ minimum: 0, description: 'Failed attempts since the last success' }),
  failing_since: Type.Optional(Timestamp('The first failure since the last success')),
  last_success_at: Type.Optional(Timestamp('When the receiver last accepted an event, to some seconds')),
  last_error: Type.Optional(Type.String({ description: 'Why the last failed attempt failed' })),
  last_error_at: Type.Optional(Timestamp('When it failed')),
  dropped_events: Type.Integer({
    minimum: 0,
    description:
      'Events that will not be sent, because more than BERTH_WEBHOOK_MAX_DELIVERIES waited for the receiver',
  }),
  last_dropped_at: Type.Optional(Timestamp('When that last happened')),
  created_at: Timestamp('When the webhook was created'),
  updated_at: Timestamp('When it was last changed'),
}
const secret = Type.String({
  description:
    'Verifies the signatures, by Standard Webhooks: `whsec_` and base64. Shown only in this answer',
})

export const Webhook = Type.Object(webhook, { title: 'Webhook' })
export type Webhook = Static<typeof Webhook>
export const WebhookWithSecret = Type.Object({ ...webhook, secret }, { title: 'WebhookWithSecret' })
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

export const CreateWebhookRequest = Open({
  url: fields.url,
  description: Type.Optional(fields.description),
  event_types: Type.Optional(fields.event_types),
})
export type CreateWebhookRequest = Static<typeof CreateWebhookRequest>

export const UpdateWebhookRequest = Open({
  url: Type.Optional(fields.url),
  description: Type.Optional({
    ...fields.description,
    description: 'Description; an empty string removes it',
  }),
  event_types: Type.Optional(fields.event_types),
  status: Type.Optional(
    OneOf(webhookStatuses, {
      description:
        'A disabled webhook misses what happens. What waits is sent when it is enabled again, if it is not older than a day',
    }),
  ),
})
export type UpdateWebhookRequest = Static<typeof UpdateWebhookRequest>

export const RotateWebhookRequest = Open({
  overlap_hours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_HOURS,
      default: 24,
      description: 'How long requests are also signed with the old secret',
    }),
  ),
})
export type RotateWebhookRequest = Static<typeof RotateWebhookRequest>

const answered = {
  duration_ms: Type.Integer({ minimum: 0, description: 'How long it took' }),
  status: Nullable(Type.Integer({ description: 'HTTP status of the answer; null without one' })),
  answer: Nullable(
    Type.String({ description: `The start of the answer, at most ${MAX_ANSWER_BYTES} bytes of it` }),
  ),
  error: Nullable(Type.String({ description: 'Why it failed; null after a success' })),
}

export const WebhookAttempt = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: 'The first has 1' }),
    started_at: Timestamp('When it began'),
    ...answered,
  },
  { title: 'WebhookAttempt' },
)
export type WebhookAttempt = Static<typeof WebhookAttempt>

export const WebhookTestResult = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether the receiver accepted the event' }),
    delivery_id: Type.String({ description: 'The delivery, which has the same id as its event' }),
    ...answered,
  },
  { title: 'WebhookTestResult' },
)
export type WebhookTestResult = Static<typeof WebhookTestResult>

const delivery = {
  id: Type.String({ description: 'Id of the event: the header `webhook-id` of each attempt' }),
  type: Type.String({ description: `Type of the event; \`${TEST_EVENT}\` for a test` }),
  subject: Type.String({
    description: 'What the event is about, by id. Events of one subject are delivered one after another',
  }),
  state: OneOf(deliveryStates, { description: 'Waits for its next attempt; accepted; given up' }),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was tried' }),
  created_at: Timestamp('When the event happened'),
  next_attempt_at: Type.Optional(Timestamp('While it waits: when it is due')),
  finished_at: Type.Optional(Timestamp('When it was accepted or given up')),
}
export const WebhookDelivery = Type.Object(delivery, { title: 'WebhookDelivery' })
export type WebhookDelivery = Static<typeof WebhookDelivery>

const MAX_SHOWN_ATTEMPTS = 100
export const WebhookDeliveryDetails = Type.Object(
  {
    ...delivery,
    event: WebhookEvent,
    log: Type.Array(WebhookAttempt, {
      description: `The attempts, the last one first, at most ${MAX_SHOWN_ATTEMPTS}`,
    }),
  },
  { title: 'WebhookDeliveryDetails' },
)
export type WebhookDeliveryDetails = Static<typeof WebhookDeliveryDetails>

const params = Type.Object({ id: resourceId('webhook') })
const deliveryParams = Type.Object({ id: resourceId('webhook'), delivery_id: resourceId('delivery') })
const path = '/webhooks'

export const createWebhook = operation({
  id: 'createWebhook',
  tag,
  summary: 'Extension: create a webhook',
  description: `Events of the project are sent to the URL by POST, signed by [Standard Webhooks](https://www.standardwebhooks.com). Each event is sent until the receiver answers 2xx, for a day; events about the same thing are sent one after another. Answer within 15 seconds.

The key must be able to read what the events are about: \`session.*\` needs \`browsers:read\`, for example, and all types need reading of everything.`,
  method: 'POST',
  path,
  body: CreateWebhookRequest,
  effect: 'act',
  status: 201,
  response: WebhookWithSecret,
  onceOnly: ['secret'],
  errors: ['bad_request', 'forbidden', 'conflict', 'project_not_found'],
})

export const listWebhooks = operation({
  id: 'listWebhooks',
  tag,
  summary: 'Extension: list the webhooks, newest first',
  method: 'GET',
  path,
  query: Type.Object({
    ...pageQuery,
    status: Type.Optional(OneOf(webhookStatuses, { description: 'Only these' })),
    query: Type.Optional(
      Text({
        description: 'Case-insensitive text to find in the URL or description, or the id',
        maxLength: 255,
      }),
    ),
  }),
  status: 200,
  response: Type.Array(Webhook),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getWebhook = operation({
  id: 'getWebhook',
  tag,
  summary: 'Extension: get a webhook, and how its deliveries go',
  method: 'GET',
  path: `${path}/{id}`,
  params,
  status: 200,
  response: Webhook,
  errors: ['not_found'],
})

export const updateWebhook = operation({
  id: 'updateWebhook',
  tag,
  summary: 'Extension: change, disable or enable a webhook',
  description: 'What waits for another attempt is tried again at once.',
  method: 'PATCH',
  path: `${path}/{id}`,
  params,
  body: UpdateWebhookRequest,
  bodyOptional: true,
  effect: 'act',
  status: 200,
  response: Webhook,
  errors: ['bad_request', 'forbidden', 'not_found'],
})

export const deleteWebhook = operation({
  id: 'deleteWebhook',
  tag,
  summary: 'Extension: delete a webhook and the log of its deliveries',
  method: 'DELETE',
  path: `${path}/{id}`,
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found'],
})

export const testWebhook = operation({
  id: 'testWebhook',
  tag,
  summary: 'Extension: send a test event, and return what the receiver answers',
  description: `Sends an event of the type \`${TEST_EVENT}\` once, also for a disabled webhook. Its \`data\` has the \`webhook_id\`.`,
  method: 'POST',
  path: `${path}/{id}/test`,
  params,
  effect: 'act',
  waits: true,
  status: 200,
  response: WebhookTestResult,
  errors: ['not_found', 'too_many_requests'],
})

export const rotateWebhookSecret = operation({
  id: 'rotateWebhookSecret',
  tag,
  summary: 'Extension: replace the secret of a webhook',
  description:
    'For `overlap_hours`, each request has a signature by the new and one by the old secret, so the receiver can change over in between. Libraries for Standard Webhooks accept a request if one signature is right.',
  method: 'POST',
  path: `${path}/{id}/rotate`,
  params,
  body: RotateWebhookRequest,
  bodyOptional: true,
  status: 200,
  response: WebhookWithSecret,
  onceOnly: ['secret'],
  errors: ['bad_request', 'not_found'],
})

export const listWebhookDeliveries = operation({
  id: 'listWebhookDeliveries',
  tag,
  summary: 'Extension: list the deliveries of a webhook, newest event first',
  description:
    'Finished ones are deleted after BERTH_WEBHOOK_RETENTION_DAYS, the oldest earlier when there are more than BERTH_WEBHOOK_MAX_DELIVERIES.',
  method: 'GET',
  path: `${path}/{id}/deliveries`,
  params,
  query: Type.Object({
    ...pageQuery,
    state: Type.Optional(OneOf(deliveryStates, { description: 'Only these' })),
    type: Type.Optional(
      OneOf([...webhookEventTypes, TEST_EVENT] as const, { description: 'Only of this type' }),
    ),
  }),
  status: 200,
  response: Type.Array(WebhookDelivery),
  paging: 'offset',
  errors: ['bad_request', 'not_found'],
})

export const getWebhookDelivery = operation({
  id: 'getWebhookDelivery',
  tag,
  summary: 'Extension: get a delivery with its event and attempts',
  method: 'GET',
  path: `${path}/{id}/deliveries/{delivery_id}`,
  params: deliveryParams,
  status: 200,
  response: WebhookDeliveryDetails,
  errors: ['not_found'],
})

export const redeliverWebhook = operation({
  id: 'redeliverWebhook',
  tag,
  summary: 'Extension: send an event again',
  description:
    'It is tried for another day, under the same `webhook-id`. Later events about the same thing that still wait, come after it.',
  method: 'POST',
  path: `${path}/{id}/deliveries/{delivery_id}/redeliver`,
  params: deliveryParams,
  status: 202,
  response: WebhookDelivery,
  errors: ['not_found', 'conflict'],
})
