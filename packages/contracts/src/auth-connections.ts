// Connections that keep a profile logged in at a domain, and the login flows they go through.
import { Type, type Static } from 'typebox'
import { CredentialReference } from './credentials.ts'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, resourceId, Strict, Text, Timestamp } from './schema.ts'
import { TelemetryRequest } from './telemetry.ts'

const tag = 'Auth connections'

export const connectionStatuses = ['AUTHENTICATED', 'NEEDS_AUTH'] as const
export type ConnectionStatus = (typeof connectionStatuses)[number]

export const flowStatuses = ['IN_PROGRESS', 'SUCCESS', 'FAILED', 'EXPIRED', 'CANCELED'] as const
export type FlowStatus = (typeof flowStatuses)[number]

export const flowSteps = [
  'DISCOVERING',
  'AWAITING_INPUT',
  'AWAITING_EXTERNAL_ACTION',
  'SUBMITTING',
  'COMPLETED',
] as const
export type FlowStep = (typeof flowSteps)[number]

export const flowTypes = ['LOGIN', 'REAUTH'] as const
export type FlowType = (typeof flowTypes)[number]

export const reauthReasons = [
  'external_credential',
  'cua_has_credential',
  'has_credential',
  'viable_plans_found',
  'no_requirements_recorded',
  'requirements_satisfiable',
  'no_prior_successful_login',
  'no_credential',
  'no_viable_plans',
  'viable_plans_require_external_action',
  'requires_external_action',
  'requires_totp_without_secret',
  'requires_sms_code',
  'requires_email_code',
] as const
export type ReauthReason = (typeof reauthReasons)[number]

export const MIN_CHECK_SECONDS = 300
export const MAX_CHECK_SECONDS = 86_400
const MAX_URL_LENGTH = 2_048
const MAX_VALUE_LENGTH = 10_000
const MAX_VALUES = 50
const MAX_DOMAINS = 50
/** The longest host name, with a wildcard or a port. */
const MAX_DOMAIN_LENGTH = 262

const fieldKinds = ['identifier', 'password', 'code', 'totp_code', 'totp_secret', 'text'] as const
export type FieldKind = (typeof fieldKinds)[number]

const choiceKinds = [
  'mfa_method',
  'sso_provider',
  'sign_in_method',
  'auth_method',
  'identifier_method',
  'account',
  'other',
] as const
export type ChoiceKind = (typeof choiceKinds)[number]

const mfaTypes = ['sms', 'call', 'email', 'totp', 'push', 'password', 'switch'] as const
export type MfaType = (typeof mfaTypes)[number]

const maybe = (description: string) => Type.Optional(Nullable(Type.String({ description })))

const ProxyReference = Strict(
  {
    id: Type.Optional(Text({ description: 'Id of the proxy', maxLength: 255 })),
    name: Type.Optional(
      Text({ description: 'Name of the proxy, which only one in the project may have', maxLength: 255 }),
    ),
  },
  { description: 'A proxy of the same project, by id or by name' },
)
export type ProxyReference = Static<typeof ProxyReference>

const DiscoveredField = Type.Object({
  name: Type.String({ description: 'Names it in `fields` of a submission' }),
  type: OneOf(['text', 'email', 'password', 'tel', 'number', 'url', 'code', 'totp'] as const, {
    description: 'What is to be typed',
  }),
  label: Type.String({ description: 'As the page calls it' }),
  selector: Type.String({ description: 'CSS selector on the page' }),
  placeholder: Type.Optional(Type.String({ description: 'As the page has it' })),
  required: Type.Optional(Type.Boolean({ description: 'Whether the page insists on it' })),
  hint: Type.Optional(Type.String({ description: 'What the page says beside it, such as a masked number' })),
  linked_mfa_type: Type.Optional(
    Nullable(OneOf(mfaTypes, { description: 'The second factor that the code belongs to' })),
  ),
  replace_existing: Type.Optional(
    Type.Boolean({ description: 'Extension: the page refused the value that was there before' }),
  ),
})

const FlowField = Type.Object({
  id: Type.String({ description: 'Names it in `field_values` of a submission' }),
  ref: Type.String({ description: 'Under which its value is kept in a credential' }),
  type: OneOf(fieldKinds, {
    description: 'What it is for',
  }),
  label: Type.Optional(Type.String({ description: 'As the page calls it' })),
  required: Type.Optional(Type.Boolean({ description: 'Whether the page insists on it' })),
  observed_selector: Type.Optional(Nullable(Type.String({ description: 'CSS selector on the page' }))),
  replace_existing: Type.Optional(
    Type.Boolean({ description: 'Extension: the page refused the value that was there before' }),
  ),
})

const FlowChoice = Type.Object({
  id: Type.String({ description: 'For `selected_choice_id` of a submission' }),
  type: OneOf(choiceKinds, { description: 'What is chosen' }),
  label: Type.String({ description: 'As the page calls it' }),
  description: Type.Optional(Nullable(Type.String({ description: 'What the page says beside it' }))),
  observed_selector: Type.Optional(Nullable(Type.String({ description: 'CSS selector on the page' }))),
})

const MfaOption = Type.Object({
  type: OneOf(mfaTypes, { description: 'For `mfa_option_id` of a submission' }),
  label: Type.String({ description: 'As the page calls it' }),
  target: Type.Optional(Nullable(Type.String({ description: 'A masked number or address' }))),
  description: Type.Optional(Nullable(Type.String({ description: 'What the page says beside it' }))),
})

const SignInOption = Type.Object({
  id: Type.String({ description: 'For `sign_in_option_id` of a submission' }),
  label: Type.String({ description: 'As the page calls it' }),
  description: Type.Optional(Nullable(Type.String({ description: 'What the page says beside it' }))),
})

const SsoButton = Type.Object({
  provider: Type.String({ description: 'For `sso_provider` of a submission, such as `google`' }),
  label: Type.String({ description: 'As the page calls it' }),
  selector: Type.String({ description: 'XPath, for `sso_button_selector` of a submission' }),
})

/** What a flow waits for. */
const askedFields = {
  fields: Type.Optional(
    Nullable(Type.Array(FlowField, { description: 'Fields to be filled in, while the flow waits' })),
  ),
  choices: Type.Optional(
    Nullable(Type.Array(FlowChoice, { description: 'Choices to be made, while the flow waits' })),
  ),
  discovered_fields: Type.Optional(
    Nullable(Type.Array(DiscoveredField, { description: '`fields` as older clients know them' })),
  ),
  mfa_options: Type.Optional(
    Nullable(Type.Array(MfaOption, { description: 'Choices of a second factor, for older clients' })),
  ),
  sign_in_options: Type.Optional(
    Nullable(Type.Array(SignInOption, { description: 'Choices of an account, for older clients' })),
  ),
  pending_sso_buttons: Type.Optional(
    Nullable(Type.Array(SsoButton, { description: 'Choices of a provider, for older clients' })),
  ),
  interaction_id: maybe('Names what is asked now; a submission that repeats it is refused once it is over'),
  external_action_message: maybe('What the person is to do elsewhere, while the flow waits for that'),
  website_error: maybe('What the website says is wrong'),
  error_code: maybe('Why the flow failed'),
  error_message: maybe('Why the flow failed, for people'),
  post_login_url: maybe('Where the browser was after the login'),
  hosted_url: maybe('Page for the person who logs in, while a flow is in progress'),
  live_view_url: maybe('The screen of the flow, while it is in progress'),
}

export const ManagedAuth = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the connection' }),
    domain: Type.String({ description: 'Where the profile is logged in' }),
    profile_name: Type.String({ description: 'Name of that profile' }),
    status: OneOf(connectionStatuses, { description: 'Whether it is logged in, as far as is known' }),
    save_credentials: Type.Boolean({
      description: 'Whether what was typed is kept after every successful login; one-time codes never are',
    }),
    record_session: Type.Boolean({ description: 'Whether its browser sessions are recorded' }),
    allowed_domains: Type.Optional(
      Type.Array(Type.String(), { description: 'Where a login may lead besides the domain' }),
    ),
    auto_reauth: Type.Optional(
      Type.Boolean({ description: 'Whether it may log in again by itself; only with health_checks' }),
    ),
    health_checks: Type.Optional(
      Type.Boolean({ description: 'Whether it is looked at on the interval whether it is still logged in' }),
    ),
    health_check_interval: Type.Optional(
      Nullable(Type.Integer({ description: 'Seconds between two such looks' })),
    ),
    can_reauth: Type.Optional(Type.Boolean({ description: 'Whether it could log in again by itself' })),
    can_reauth_reason: Type.Optional(OneOf(reauthReasons, { description: 'Why it could, or could not' })),
    credential: Type.Optional(CredentialReference),
    proxy_id: Type.Optional(Type.String({ description: 'Proxy of its browser sessions' })),
    browser_telemetry: Type.Optional(Nullable(TelemetryRequest)),
    login_url: Type.Optional(
      Type.String({ description: 'Login page; learned at the first success where none was given' }),
    ),
    last_auth_check_at: Type.Optional(
      Timestamp('When it was last looked at whether it is logged in, whatever came of it'),
    ),
    last_auth_at: Type.Optional(
      Type.String({
        format: 'date-time',
        deprecated: true,
        description: 'Deprecated: the same as last_auth_check_at',
      }),
    ),
    flow_status: Type.Optional(
      Nullable(OneOf(flowStatuses, { description: 'Of its latest flow; null when there was none' })),
    ),
    flow_step: Type.Optional(Nullable(OneOf(flowSteps, { description: 'How far it is, or came' }))),
    flow_type: Type.Optional(
      Nullable(OneOf(flowTypes, { description: 'Asked for, or begun by the service itself' })),
    ),
    flow_expires_at: Type.Optional(Nullable(Timestamp('When it ends at the latest'))),
    ...askedFields,
    sso_provider: maybe('The provider that the login goes through'),
    browser_session_id: maybe('The browser session of the flow, while it is in progress'),
    created_at: Timestamp('Extension: when it was created'),
  },
  { title: 'ManagedAuth' },
)
export type ManagedAuth = Static<typeof ManagedAuth>

const settings = {
  login_url: Type.Optional(
    Text({
      description: 'Login page, where it is known; an empty one forgets it',
      maxLength: MAX_URL_LENGTH,
    }),
  ),
  allowed_domains: Type.Optional(
    Type.Array(
      Text({ description: 'A host, or `*.` and a domain for all below it', maxLength: MAX_DOMAIN_LENGTH }),
      {
        maxItems: MAX_DOMAINS,
        description:
          'Where the login may lead besides the domain and the usual identity providers; all of the list is replaced',
      },
    ),
  ),
  credential: Type.Optional(CredentialReference),
  proxy: Type.Optional(ProxyReference),
  save_credentials: Type.Optional(
    Type.Boolean({ description: 'Whether to keep what was typed after a success; true at first' }),
  ),
  record_session: Type.Optional(
    Type.Boolean({ description: 'Whether to record its browser sessions; false at first' }),
  ),
  health_checks: Type.Optional(
    Type.Boolean({ description: 'Whether to look on the interval; true at first' }),
  ),
  health_check_interval: Type.Optional(
    Type.Integer({
      minimum: MIN_CHECK_SECONDS,
      maximum: MAX_CHECK_SECONDS,
      description: 'Seconds; 3600 at first. The operator may ask for more than the least',
    }),
  ),
  auto_reauth: Type.Optional(
    Type.Boolean({ description: 'Whether it may log in again by itself; true at first' }),
  ),
  browser_telemetry: Type.Optional(Nullable(TelemetryRequest)),
}

export const CreateConnectionRequest = Strict({
  domain: Text({
    description: 'A host such as `example.com`, with a port where it is not the usual one',
    minLength: 1,
    maxLength: MAX_DOMAIN_LENGTH,
  }),
  profile_name: Text({
    description: 'Name of the profile; one that does not exist is created',
    minLength: 1,
    maxLength: 255,
  }),
  ...settings,
})
export type CreateConnectionRequest = Static<typeof CreateConnectionRequest>

export const UpdateConnectionRequest = Strict(settings)
export type UpdateConnectionRequest = Static<typeof UpdateConnectionRequest>

export const LoginRequest = Strict({
  proxy: Type.Optional(ProxyReference),
  record_session: Type.Optional(Type.Boolean({ description: 'Instead of what the connection says' })),
  browser_telemetry: Type.Optional(Nullable(TelemetryRequest)),
})
export type LoginRequest = Static<typeof LoginRequest>

export const LoginResponse = Type.Object(
  {
    id: Type.String({ description: 'Id of the connection' }),
    flow_type: OneOf(flowTypes, { description: 'Which kind of flow was begun' }),
    flow_expires_at: Timestamp('When it ends at the latest'),
    hosted_url: Type.String({
      description:
        'Page for the person who logs in; it works once. `success_url` and `error_url` may be added as parameters',
    }),
    handoff_code: Type.Optional(Type.String({ description: 'The one-time code in that address' })),
    live_view_url: Type.Optional(Type.String({ description: 'The screen of the flow, if it has one yet' })),
  },
  { title: 'LoginResponse' },
)
export type LoginResponse = Static<typeof LoginResponse>

const value = Type.String({ maxLength: MAX_VALUE_LENGTH })
const values = (description: string) =>
  Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 300 }), value, {
      description,
      maxProperties: MAX_VALUES,
    }),
  )

export const SubmitRequest = Strict(
  {
    field_values: values('By the id of a field'),
    selected_choice_id: Type.Optional(Text({ description: 'Id of a choice', maxLength: 300 })),
    interaction_id: Type.Optional(
      Text({ description: 'Of the state that this answers; refused when that is over', maxLength: 100 }),
    ),
    fields: values('By the name of a discovered field'),
    mfa_option_id: Type.Optional(
      Text({ description: 'Type of an MFA option, or its label', maxLength: 300 }),
    ),
    sign_in_option_id: Type.Optional(Text({ description: 'Id of a sign-in option', maxLength: 300 })),
    sso_button_selector: Type.Optional(Text({ description: 'Selector of an SSO button', maxLength: 1_000 })),
    sso_provider: Type.Optional(Text({ description: 'Provider of an SSO button', maxLength: 300 })),
  },
  {
    description:
      'Canonical: field_values, selected_choice_id or both. As older clients have it: exactly one of the others; an empty map counts as absent',
  },
)
export type SubmitRequest = Static<typeof SubmitRequest>

export const eventKinds = ['managed_auth_state', 'sse_heartbeat'] as const

export const ManagedAuthEvent = Type.Object(
  {
    event: OneOf(eventKinds, { description: 'A state, or a sign that the stream lives' }),
    timestamp: Timestamp('When it was so'),
    flow_status: Type.Optional(OneOf(flowStatuses, { description: 'Of the latest flow' })),
    flow_step: Type.Optional(OneOf(flowSteps, { description: 'How far it is, or came' })),
    flow_type: Type.Optional(OneOf(flowTypes, { description: 'Asked for, or begun by the service itself' })),
    ...askedFields,
  },
  { title: 'ManagedAuthEvent' },
)
export type ManagedAuthEvent = Static<typeof ManagedAuthEvent>

export const timelineTypes = ['login', 'reauth', 'health_check'] as const
export type TimelineType = (typeof timelineTypes)[number]

export const TimelineEvent = Type.Object(
  {
    id: Type.String({ description: 'Of the flow or the health check' }),
    type: OneOf(timelineTypes, { description: 'What it was' }),
    timestamp: Timestamp('When it began'),
    status: OneOf([...flowStatuses, ...connectionStatuses] as const, {
      description: 'Of a flow its status, of a health check what it saw',
    }),
    previous_status: Type.Optional(
      OneOf(connectionStatuses, { description: 'Of a health check: what was thought before' }),
    ),
    step: Type.Optional(OneOf(flowSteps, { description: 'Of a flow: how far it came' })),
    error_code: Type.Optional(
      Type.String({
        description:
          'Of a flow that failed. Extension: `inconclusive` for a health check that changed nothing',
      }),
    ),
    error_message: Type.Optional(Type.String({ description: 'The same for people' })),
    website_error: Type.Optional(Type.String({ description: 'What the website said was wrong' })),
    browser_session_id: Type.Optional(Type.String({ description: 'Its browser session' })),
    replay_id: Type.Optional(Type.String({ description: 'The recording of that session' })),
    telemetry_captured: Type.Optional(
      Type.Boolean({ description: 'Whether events of that session were captured' }),
    ),
    updated_at: Type.Optional(Timestamp('Of a flow: when it last changed')),
  },
  { title: 'ManagedAuthTimelineEvent' },
)
export type TimelineEvent = Static<typeof TimelineEvent>

const params = Type.Object({ id: resourceId('connection') })

export const createConnection = operation({
  id: 'createAuthConnection',
  tag,
  summary: 'Create a connection of a profile and a domain',
  method: 'POST',
  path: '/auth/connections',
  body: CreateConnectionRequest,
  status: 201,
  response: ManagedAuth,
  errors: ['bad_request', 'not_found', 'already_exists'],
})

export const listConnections = operation({
  id: 'listAuthConnections',
  tag,
  summary: 'List connections, newest first',
  method: 'GET',
  path: '/auth/connections',
  query: Type.Object({
    ...pageQuery,
    profile_name: Type.Optional(Text({ description: 'Exact name of the profile', maxLength: 255 })),
    domain: Type.Optional(Text({ description: 'Exact domain', maxLength: MAX_DOMAIN_LENGTH })),
    query: Type.Optional(
      Text({ description: 'Part of the id, the domain or the name of the profile', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(ManagedAuth),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getConnection = operation({
  id: 'getAuthConnection',
  tag,
  summary: 'Get a connection, with the state of its latest flow',
  method: 'GET',
  path: '/auth/connections/{id}',
  auth: 'flow-token',
  params,
  status: 200,
  response: ManagedAuth,
  errors: ['not_found'],
})

export const updateConnection = operation({
  id: 'updateAuthConnection',
  tag,
  summary: 'Change a connection; what is left out stays',
  method: 'PATCH',
  path: '/auth/connections/{id}',
  params,
  body: UpdateConnectionRequest,
  status: 200,
  response: ManagedAuth,
  errors: ['bad_request', 'not_found'],
})

export const deleteConnection = operation({
  id: 'deleteAuthConnection',
  tag,
  summary: 'Delete a connection, and cancel its flow',
  description: 'The profile stays, and so does the credential.',
  method: 'DELETE',
  path: '/auth/connections/{id}',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found'],
})

export const login = operation({
  id: 'loginAuthConnection',
  tag,
  summary: 'Begin a login flow',
  description:
    'Answers at once; follow the flow by `events` or by reading the connection. A flow that is past `flow_expires_at` is superseded.',
  method: 'POST',
  path: '/auth/connections/{id}/login',
  params,
  body: LoginRequest,
  bodyOptional: true,
  status: 200,
  response: LoginResponse,
  errors: ['bad_request', 'not_found', 'conflict', 'sessions_unavailable'],
})

export const submit = operation({
  id: 'submitAuthConnection',
  tag,
  summary: 'Give a flow what it waits for',
  method: 'POST',
  path: '/auth/connections/{id}/submit',
  auth: 'flow-token',
  params,
  body: SubmitRequest,
  status: 202,
  response: Type.Object(
    { accepted: Type.Boolean({ description: 'True: what comes of it is told by the state of the flow' }) },
    { title: 'SubmitResponse' },
  ),
  errors: ['bad_request', 'not_found', 'conflict'],
})

export const followConnection = operation({
  id: 'followAuthConnection',
  tag,
  summary: 'Follow the login flow of a connection',
  description: 'Begins with the state as it is, and ends when the flow has. Without a flow it waits for one.',
  method: 'GET',
  path: '/auth/connections/{id}/events',
  auth: 'flow-token',
  kind: 'events',
  contentType: 'text/event-stream',
  params,
  status: 200,
  response: ManagedAuthEvent,
  errors: ['not_found', 'too_many_requests'],
})

export const listTimeline = operation({
  id: 'listAuthConnectionTimeline',
  tag,
  summary: 'List the logins, re-authentications and health checks of a connection, newest first',
  method: 'GET',
  path: '/auth/connections/{id}/timeline',
  params,
  query: Type.Object({
    ...pageQuery,
    type: Type.Optional(OneOf(timelineTypes, { description: 'Only those' })),
  }),
  status: 200,
  response: Type.Array(TimelineEvent),
  paging: 'offset',
  errors: ['bad_request', 'not_found'],
})

export const cancelLogin = operation({
  id: 'cancelAuthConnectionLogin',
  tag,
  summary: 'Extension: cancel the flow of a connection',
  description: 'The profile stays as it was before. Without a flow in progress nothing changes.',
  method: 'POST',
  path: '/auth/connections/{id}/cancel',
  params,
  status: 200,
  response: ManagedAuth,
  errors: ['not_found', 'conflict'],
})

export const checkConnection = operation({
  id: 'checkAuthConnection',
  tag,
  summary: 'Extension: look now whether a connection is still logged in',
  description:
    'Answers when the look is over, which takes some seconds. What follows from it is as after a look on the interval; it works without `health_checks`, too.',
  method: 'POST',
  path: '/auth/connections/{id}/check',
  params,
  effect: 'act',
  waits: true,
  status: 200,
  response: ManagedAuth,
  errors: ['not_found', 'conflict', 'sessions_unavailable'],
})

export const exchangeHandoff = operation({
  id: 'exchangeAuthConnectionHandoff',
  tag,
  summary: 'Exchange the one-time code of a flow for its token',
  description:
    'The token is good for 30 minutes, and for this connection only: to read it, to follow it and to submit.',
  method: 'POST',
  path: '/auth/connections/{id}/exchange',
  auth: 'handoff',
  params,
  body: Strict({ code: Text({ description: 'From the address of the page', minLength: 1, maxLength: 200 }) }),
  status: 200,
  response: Type.Object(
    {
      invocation_id: Type.String({ description: 'Id of the flow' }),
      jwt: Type.String({ description: 'The token; sent as an API key would be' }),
    },
    { title: 'HandoffToken' },
  ),
  errors: ['gone', 'too_many_requests'],
})
