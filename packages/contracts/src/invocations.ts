// Invocations: one action of an app, run once.
import { Type, type Static } from 'typebox'
import { AppName, sharedEvents, since } from './apps.ts'
import { Browser } from './browsers.ts'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, resourceId, Strict, Text, Timestamp } from './schema.ts'

const tag = 'Invocations'

export const invocationStatuses = ['queued', 'running', 'succeeded', 'failed'] as const
export type InvocationStatus = (typeof invocationStatuses)[number]

/** How long a caller is held, and with it the invocation. */
export const SYNC_SECONDS = 100
export const DEFAULT_ASYNC_SECONDS = 900
/** Of a payload and of an output, in bytes. */
export const MAX_PAYLOAD_BYTES = 4_500_000
/** Of each of them in a list. */
export const MAX_LISTED_LENGTH = 64 * 1024
/** The request around it: what a payload needs to be quoted as JSON. */
const MAX_REQUEST_BYTES = 2 * MAX_PAYLOAD_BYTES + 64 * 1024

const fields = {
  id: Type.String({ description: 'Unique id of the invocation' }),
  action_name: Type.String({ description: 'Name of the action' }),
  status: OneOf(invocationStatuses, { description: 'Where it is; succeeded and failed are final' }),
  status_reason: Type.Optional(Type.String({ description: 'Why it is so' })),
  output: Type.Optional(Type.String({ description: 'What the action returned, as JSON' })),
}

export const InvocationResult = Type.Object(fields, { title: 'InvocationResult' })
export type InvocationResult = Static<typeof InvocationResult>

export const Invocation = Type.Object(
  {
    ...fields,
    app_name: Type.String({ description: 'Name of the app' }),
    version: Type.String({ description: 'Label of the version' }),
    started_at: Timestamp('When it began, with nanoseconds; while it is queued, when it was asked for'),
    finished_at: Type.Optional(Nullable(Timestamp('When it was over; null until then'))),
    payload: Type.Optional(Type.String({ description: 'What the action was given, as JSON' })),
  },
  { title: 'Invocation' },
)
export type Invocation = Static<typeof Invocation>

export const InvocationEvent = Type.Object(
  { ...sharedEvents, invocation: Type.Optional(Invocation) },
  { title: 'InvocationEvent' },
)
export type InvocationEvent = Static<typeof InvocationEvent>

/** Text that is checked to be JSON by the service: its size is in bytes, and its depth has a bound. */
const Json = (description: string) => Type.String({ description })

export const CreateInvocationRequest = Strict({
  app_name: AppName('Name of the app'),
  action_name: AppName('Name of the action'),
  version: Type.Optional(Text({ description: 'Label of the version', minLength: 1, maxLength: 255 })),
  payload: Type.Optional(Json(`Input of the action, as JSON of at most ${MAX_PAYLOAD_BYTES} bytes`)),
  async: Type.Optional(
    Type.Boolean({ default: false, description: 'Answer at once with 202, and not when it is over' }),
  ),
  async_timeout_seconds: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 3600,
      description: `With \`async\`: how long it may take, ${DEFAULT_ASYNC_SECONDS} when omitted`,
    }),
  ),
})
export type CreateInvocationRequest = Static<typeof CreateInvocationRequest>

export const UpdateInvocationRequest = Strict({
  status: OneOf(['succeeded', 'failed'] as const, { description: 'What it ends as' }),
  output: Type.Optional(Json('What it ends with, as JSON')),
})
export type UpdateInvocationRequest = Static<typeof UpdateInvocationRequest>

const params = Type.Object({ id: resourceId('invocation') })

export const createInvocation = operation({
  id: 'createInvocation',
  tag,
  summary: 'Invoke an action of an app',
  description: `Held until it is over, for at most ${SYNC_SECONDS} seconds, and failed when the caller leaves or that time is up; with \`async\` answered at once. It is run once or, if the server that has it is lost, not again.`,
  method: 'POST',
  path: '/invocations',
  body: CreateInvocationRequest,
  maxBodyBytes: MAX_REQUEST_BYTES,
  effect: 'act',
  status: 200,
  alsoAnswers: { 202: 'It was taken in, and is not over yet' },
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
  tag,
  summary: 'List invocations, newest first',
  description: `Payloads and outputs of more than ${MAX_LISTED_LENGTH / 1024} KiB are left out; a single invocation has them.`,
  method: 'GET',
  path: '/invocations',
  query: Type.Object({
    ...pageQuery,
    app_name: Type.Optional(AppName('Only of this app')),
    version: Type.Optional(Text({ description: 'Only of this version', maxLength: 255 })),
    action_name: Type.Optional(AppName('Only of this action')),
    deployment_id: Type.Optional(Text({ description: 'Only of this deployment', maxLength: 255 })),
    status: Type.Optional(OneOf(invocationStatuses, { description: 'Only those' })),
    since,
    query: Type.Optional(
      Text({ description: 'Part of the id, or of the name of app or action', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(Invocation),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getInvocation = operation({
  id: 'getInvocation',
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
  tag,
  summary: 'End an invocation: it is stopped where it is, and its browser sessions end',
  description: 'One that is over stays as it is; asking for what it is already changes nothing.',
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
  tag,
  summary: 'List the active browser sessions that were created with its invocation_id',
  method: 'GET',
  path: '/invocations/{id}/browsers',
  params,
  status: 200,
  response: Type.Object({ browsers: Type.Array(Browser) }, { title: 'InvocationBrowsers' }),
  errors: ['bad_request', 'not_found'],
})

export const deleteInvocationBrowsers = operation({
  id: 'deleteInvocationBrowsers',
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
  tag,
  summary: 'Follow an invocation: its logs and states',
  description: 'Begins with what is kept, and ends when the invocation is over.',
  method: 'GET',
  path: '/invocations/{id}/events',
  kind: 'events',
  contentType: 'text/event-stream',
  params,
  query: Type.Object({ since }),
  status: 200,
  response: InvocationEvent,
  errors: ['bad_request', 'not_found', 'too_many_requests'],
})
