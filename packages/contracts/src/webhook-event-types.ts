// The types of webhook events, without schemas, so that pages which only name them stay small.
import type { OperationScope } from './scopes.ts'

const types = {
  'session.started': ['browsers:read', 'A session can be used'],
  'session.ended': ['browsers:read', 'A session has ended'],
  'session.standby': ['browsers:read', 'A session is frozen, because nobody uses it'],
  'session.woken': ['browsers:read', 'Somebody uses it again'],
  'replay.ready': ['browsers:read', 'A recording can be watched'],
  'deployment.queued': ['apps:read', 'A deployment waits for its build'],
  'deployment.in_progress': ['apps:read', 'It is being built'],
  'deployment.running': ['apps:read', 'Its apps can be invoked'],
  'deployment.failed': ['apps:read', 'Its build failed'],
  'deployment.stopped': ['apps:read', 'It was stopped or replaced'],
  'invocation.queued': ['apps:read', 'An invocation waits for its turn'],
  'invocation.running': ['apps:read', 'It runs'],
  'invocation.succeeded': ['apps:read', 'It has a result'],
  'invocation.failed': ['apps:read', 'It failed, or was canceled'],
  'login.needed': ['logins:read', 'A login needs a person'],
  'login.succeeded': ['logins:read', 'A login is done, and its profile saved'],
  'login.failed': ['logins:read', 'A login failed, expired or was canceled'],
  'pool.empty': ['browsers:read', 'The last ready browser of a pool was leased'],
  'api_key.expiring': ['api_keys:read', 'A key of the project expires within 7 days'],
  'quota.near': ['projects:read', 'The project uses 80% of a limit'],
} as const satisfies Record<string, readonly [OperationScope, string]>

export type WebhookEventType = keyof typeof types
export const webhookEventTypes = Object.keys(types) as WebhookEventType[]

/** What a key must be able to read, to be told such events. */
export const scopeOfEvent = (type: WebhookEventType): OperationScope => types[type][0]
export const aboutEvent = (type: WebhookEventType): string => types[type][1]

/** Sent only when somebody asks for it. */
export const TEST_EVENT = 'webhook.test'
