// Invocations: single runs of an app's action.
import { Type, type Static } from 'typebox'
import { describedInvocationEvent } from './app-events.ts'
import { AppName, sharedEvents, since } from './apps.ts'
import { Browser } from './browsers.ts'
import { operation } from './operation.ts'
import { boundedPageQuery, Nullable, OneOf, Open, resourceId, Text, Timestamp } from './schema.ts'

const tag = 'Invocations'

export const invocationStatuses = ['queued', 'running', 'succeeded', 'failed'] as const
export type InvocationStatus = (typeof invocationStatuses)[number]

/** Time limit of a synchronous invocation. */
export const SYNC_SECONDS = 100
export const DEFAULT_ASYNC_SECONDS = 900
/** Limit for a payload, and for an output. */
export const MAX_PAYLOAD_BYTES = 4_500_000
/** Lists omit payloads and outputs above this size. */
export const MAX_LISTED_LENGTH = 64 * 1024
/** Larger than a payload, because quoting it as JSON can double its size. */
const MAX_REQUEST_BYTES = 2 * MAX_PAYLOAD_BYTES + 64 * 1024

const fields = {
  id: Type.String({ description: 'Unique id of the invocation' }),
  action_name: Type.String({ description: 'Name of the action' }),
  status: OneOf(invocationStatuses, { description: 'Status; `succeeded` and `failed` are final' }),
  status_reason: Type.Optional(Type.String({ description: 'Reason for the status' })),
  output: Type.Optional(Type.String({ description: 'Return value of the action, as JSON' })),
}

export const InvocationResult = Type.Object(fields, { title: 'InvocationResult' })
export type InvocationResult = Static<typeof InvocationResult>

export const Invocation = Type.Object(
  {
    ...fields,
    app_name: Type.String({ description: 'Name of the app' }),
    version: Type.String({ description: 'Version label' }),
    started_at: Timestamp(
      'When the invocation started, with nanoseconds. While it is queued, when it was created',
    ),
    finished_at: Type.Optional(Nullable(Timestamp('When the invocation ended. Null while it runs'))),
    payload: Type.Optional(Type.String({ description: 'Input of the action, as JSON' })),
  },
  { title: 'Invocation' },
)
export type Invocation = Static<typeof Invocation>

export const InvocationEvent = Type.Object(
  { ...sharedEvents, invocation: Type.Optional(Invocation) },
  { title: 'InvocationEvent' },
)
export type InvocationEvent = Static<typeof InvocationEvent>

/** The server checks the JSON itself, because the size limit is in bytes and the nesting depth is limited. */
const Json = (description: string) => Type.String({ description })

export const CreateInvocationRequest = Open({
  app_name: AppName('Name of the app'),
  action_name: AppName('Name of the action'),
  version: Type.Optional(Text({ description: 'Version label', minLength: 1, maxLength: 255 })),
  payload: Type.Optional(Json(`Input of the action, as JSON of at most ${MAX_PAYLOAD_BYTES} bytes`)),
  async: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Respond at once with 202 instead of waiting for the result',
    }),
  ),
  async_timeout_seconds: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 3600,
      description: `Time limit of an \`async\` invocation in seconds, ${DEFAULT_ASYNC_SECONDS} when omitted`,
    }),
  ),
})
export type CreateInvocationRequest = Static<typeof CreateInvocationRequest>

export const UpdateInvocationRequest = Open({
  status: OneOf(['succeeded', 'failed'] as const, { description: 'Final status' }),
  output: Type.Optional(Json('Output, as JSON')),
})
export type UpdateInvocationRequest = Static<typeof UpdateInvocationRequest>

const params = Type.Object({ id: resourceId('invocation') })

export const createInvocation = operation({
  id: 'createInvocation',
  referenceIds: ['postInvocations'],
  tag,
  summary: 'Invoke an action of an app',
  description: `Responds when the invocation ends. It fails after ${SYNC_SECONDS} seconds, or when the caller disconnects. With \`async\`, responds at once. An invocation is never run twice, even if its server is lost.`,
  method: 'POST',
  path: '/invocations',
  body: CreateInvocationRequest,
  maxBodyBytes: MAX_REQUEST_BYTES,
  effect: 'act',
  status: 200,
  alsoAnswers: { 202: 'The invocation was accepted and has not ended yet' },
  statusWhen: { field: 'status', values: ['queued', 'running'], status: 202 },
  response: InvocationResult,
  errors: [
    'bad_request',
    'not_found',
    'payload_too_large',
    'too_many_invocations',
    'sessions_unavailable',
    'capacity_exhausted',
  ],
})

export const listInvocations = operation({
  id: 'listInvocations',
  referenceIds: ['getInvocations'],
  tag,
  summary: 'List invocations, newest first',
  description: `Omits payloads and outputs above ${MAX_LISTED_LENGTH / 1024} KiB; get a single invocation to read them.`,
  method: 'GET',
  path: '/invocations',
  query: Type.Object({
    ...boundedPageQuery,
    app_name: Type.Optional(AppName('Only invocations of this app')),
    version: Type.Optional(Text({ description: 'Only invocations of this version', maxLength: 255 })),
    action_name: Type.Optional(AppName('Only invocations of this action')),
    deployment_id: Type.Optional(
      Text({ description: 'Only invocations of this deployment', maxLength: 255 }),
    ),
    status: Type.Optional(OneOf(invocationStatuses, { description: 'Only invocations with this status' })),
    since,
    query: Type.Optional(
      Text({ description: 'Text to find in the id, app name or action name', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(Invocation),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getInvocation = operation({
  id: 'getInvocation',
  referenceIds: ['getInvocationsById'],
  tag,
  summary: 'Get an invocation',
  method: 'GET',
  path: '/invocations/{id}',
  params,
  status: 200,
  response: Invocation,
  errors: ['not_found'],
})

export const updateInvocation = operation({
  id: 'updateInvocation',
  referenceIds: ['patchInvocationsById'],
  tag,
  summary: 'Stop an invocation and end its browser sessions',
  description: 'An invocation that has ended cannot change. Setting its current status again does nothing.',
  method: 'PATCH',
  path: '/invocations/{id}',
  params,
  body: UpdateInvocationRequest,
  maxBodyBytes: MAX_REQUEST_BYTES,
  effect: 'act',
  status: 200,
  response: Invocation,
  errors: ['bad_request', 'not_found', 'conflict', 'payload_too_large'],
})

export const listInvocationBrowsers = operation({
  id: 'listInvocationBrowsers',
  referenceIds: ['getInvocationsBrowsersById'],
  tag,
  summary: 'List the active browser sessions of an invocation',
  method: 'GET',
  path: '/invocations/{id}/browsers',
  params,
  status: 200,
  response: Type.Object({ browsers: Type.Array(Browser) }, { title: 'InvocationBrowsers' }),
  errors: ['bad_request', 'not_found'],
})

export const deleteInvocationBrowsers = operation({
  id: 'deleteInvocationBrowsers',
  referenceIds: ['deleteInvocationsBrowsersById'],
  tag,
  summary: 'End the browser sessions of an invocation',
  method: 'DELETE',
  path: '/invocations/{id}/browsers',
  kind: 'empty',
  params,
  effect: 'act',
  status: 204,
  errors: ['bad_request', 'not_found'],
})

export const followInvocation = operation({
  id: 'followInvocation',
  referenceIds: ['getInvocationsEventsById'],
  tag,
  summary: 'Follow the logs and status changes of an invocation',
  description: 'Starts with the stored events and ends with the invocation.',
  method: 'GET',
  path: '/invocations/{id}/events',
  kind: 'events',
  contentType: 'text/event-stream',
  params,
  query: Type.Object({ since }),
  status: 200,
  response: InvocationEvent,
  described: describedInvocationEvent(Invocation),
  errors: ['bad_request', 'not_found', 'too_many_requests'],
})
