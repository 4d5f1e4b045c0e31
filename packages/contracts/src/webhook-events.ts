// What webhooks tell. Each event is `{ type, timestamp, data }`, with the `data` of its type.
import { Type, type Static, type TObject, type TProperties } from 'typebox'
import { endReasons } from './browsers.ts'
import { deploymentStatuses } from './deployments.ts'
import { invocationStatuses } from './invocations.ts'
import { Nullable, OneOf, Timestamp } from './schema.ts'
import type { WebhookEventType } from './webhook-event-types.ts'

const id = (description: string) => Type.String({ description })
const ofProject = { project_id: id('Id of the project') }
const data = (properties: TProperties) => Type.Object({ ...ofProject, ...properties })

const session = {
  session_id: id('Id of the session'),
  name: Nullable(Type.String({ description: 'Its name' })),
  tags: Type.Record(Type.String(), Type.String(), { description: 'Its tags' }),
  pool_id: Nullable(id('Its pool. A pooled browser starts when it is leased, and ends when it is released')),
  created_at: Timestamp('When the browser was created'),
}
const login = {
  connection_id: id('Id of the auth connection'),
  domain: Type.String({ description: 'The website' }),
  profile_id: id('The profile that is logged in'),
  flow_id: Nullable(id('The login; null when none is running')),
}
const deployment = data({
  deployment_id: id('Id of the deployment'),
  version: Type.String({ description: 'Its version' }),
  status: OneOf(deploymentStatuses, { description: 'What it is now' }),
  status_reason: Nullable(Type.String({ description: 'Why' })),
  created_at: Timestamp('When it was created'),
})
const invocation = data({
  invocation_id: id('Id of the invocation'),
  deployment_id: id('Id of the deployment that runs it'),
  app_name: Type.String({ description: 'Name of the app' }),
  version: Type.String({ description: 'Version of the app' }),
  action_name: Type.String({ description: 'Name of the action' }),
  status: OneOf(invocationStatuses, { description: 'What it is now' }),
  status_reason: Nullable(Type.String({ description: 'Why' })),
  created_at: Timestamp('When it was created'),
  finished_at: Nullable(Timestamp('When it ended')),
})

export const quotas = ['storage', 'sessions'] as const
export type Quota = (typeof quotas)[number]

/** The `data` of each type. */
export const webhookEventData: Readonly<Record<WebhookEventType, TObject>> = {
  'session.started': data(session),
  'session.ended': data({ ...session, reason: OneOf(endReasons, { description: 'Why' }) }),
  'session.standby': data(session),
  'session.woken': data(session),
  'replay.ready': data({
    replay_id: id('Id of the replay'),
    session_id: id('Id of the session'),
    duration_ms: Type.Integer({ description: 'How long it is' }),
    size_bytes: Type.Integer({ description: 'How large it is' }),
    end_reason: Type.String({ description: 'Why the recording ended' }),
    started_at: Nullable(Timestamp('When the recording began')),
    finished_at: Timestamp('When it ended'),
  }),
  'deployment.queued': deployment,
  'deployment.in_progress': deployment,
  'deployment.running': deployment,
  'deployment.failed': deployment,
  'deployment.stopped': deployment,
  'invocation.queued': invocation,
  'invocation.running': invocation,
  'invocation.succeeded': invocation,
  'invocation.failed': invocation,
  'login.needed': data({
    ...login,
    reason: OneOf(['signed_out', 'input', 'external_action'] as const, {
      description: 'Signed out; waits for an answer; waits for something that is done elsewhere',
    }),
  }),
  'login.succeeded': data(login),
  'login.failed': data({
    ...login,
    status: OneOf(['FAILED', 'EXPIRED', 'CANCELED'] as const, { description: 'How it ended' }),
    error_code: Nullable(Type.String({ description: 'Code of the error' })),
    error_message: Nullable(Type.String({ description: 'What went wrong' })),
  }),
  'pool.empty': data({
    pool_id: id('Id of the pool'),
    name: Nullable(Type.String({ description: 'Its name' })),
    size: Type.Integer({ description: 'How many browsers it has when it is full' }),
    session_id: id('The browser that was leased'),
  }),
  'api_key.expiring': data({
    key_id: id('Id of the key'),
    name: Type.String({ description: 'Its name' }),
    masked_key: Type.String({ description: 'Its first and last characters' }),
    expires_at: Timestamp('When it expires'),
  }),
  'quota.near': data({
    quota: OneOf(quotas, { description: 'Bytes that it stores, or concurrent sessions' }),
    used: Type.Integer({ description: 'How much it uses' }),
    limit: Type.Integer({ description: 'How much it may use' }),
  }),
}

export const WebhookEvent = Type.Object(
  {
    type: Type.String({ description: 'Type of the event' }),
    timestamp: Timestamp('When it happened'),
    data: Type.Object({}, { additionalProperties: true, description: 'What happened; see the guide' }),
  },
  { title: 'WebhookEvent' },
)
export type WebhookEvent = Static<typeof WebhookEvent>
