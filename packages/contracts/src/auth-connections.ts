// Connections that keep a profile logged in at a domain, and their login flows.
import { Type, type Static } from 'typebox'
import { CredentialReference, hookSecret } from './credentials.ts'
import { operation } from './operation.ts'
import { proxyModes, proxySelection } from './proxies.ts'
import { Nullable, OneOf, Open, pageQuery, resourceId, Strict, Text, Timestamp } from './schema.ts'
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
  'requires_customer_input',
  'totp_reauth_allowed',
  'has_passkey',
  'requires_passkey',
] as const
export type ReauthReason = (typeof reauthReasons)[number]

export const MIN_CHECK_SECONDS = 300
export const MAX_CHECK_SECONDS = 86_400
export const MAX_URL_LENGTH = 2_048
const MAX_VALUE_LENGTH = 10_000
const MAX_VALUES = 50
export const MAX_DOMAINS = 50
const MAX_REDIRECTS = 20
/** The longest host name, with a wildcard or a port. */
export const MAX_DOMAIN_LENGTH = 262

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

/** Newer clients know more of them. */
const choiceMfaTypes = [...mfaTypes, 'passkey', 'other'] as const

const inputModes = ['text', 'email', 'tel', 'numeric'] as const
export type InputMode = (typeof inputModes)[number]

export const fieldReasons = ['missing', 'rejected'] as const

const maybe = (description: string) => Type.Optional(Nullable(Type.String({ description })))

const ProxyReference = Open(
  {
    id: Type.Optional(Text({ description: 'Id of the proxy', maxLength: 255 })),
    name: Type.Optional(
      Text({
        description: 'Name of the proxy; exactly one proxy of the project must have it',
        maxLength: 255,
      }),
    ),
  },
  { description: 'A proxy of the same project, by id or name' },
)
export type ProxyReference = Static<typeof ProxyReference>

const ProxyChoice = Open(proxySelection, {
  description: 'How its browser reaches the network: by a mode, or through a proxy of the project',
})

const BrowserOptions = Open(
  {
    stealth: Type.Optional(
      Type.Boolean({ description: 'Whether the browser runs in stealth mode; true by default' }),
    ),
    proxy: Type.Optional(ProxyChoice),
    telemetry: Type.Optional(Nullable(TelemetryRequest)),
  },
  { description: 'The browser of logins and health checks. Omitted parts stay as they are' },
)
export type BrowserOptions = Static<typeof BrowserOptions>

const ShownBrowser = Type.Object(
  {
    stealth: Type.Boolean({ description: 'Whether the browser runs in stealth mode' }),
    proxy: Type.Optional(
      Type.Object(
        {
          mode: Type.Optional(OneOf(proxyModes, { description: 'Chosen mode' })),
          id: Type.Optional(Type.String({ description: 'Id of the chosen proxy' })),
        },
        { description: 'Chosen proxy; absent if none was chosen' },
      ),
    ),
    telemetry: Type.Optional(TelemetryRequest),
  },
  { description: 'The browser of logins and health checks' },
)

const DiscoveredField = Type.Object({
  name: Type.String({ description: 'Key for `fields` when you submit a value' }),
  type: OneOf(['text', 'email', 'password', 'tel', 'number', 'url', 'code', 'totp'] as const, {
    description: 'Kind of value that the field expects',
  }),
  label: Type.String({ description: 'Label on the page' }),
  selector: Type.String({ description: 'CSS selector on the page' }),
  placeholder: Type.Optional(Type.String({ description: 'Placeholder on the page' })),
  required: Type.Optional(Type.Boolean({ description: 'Whether the page requires a value' })),
  hint: Type.Optional(Type.String({ description: 'Hint on the page, such as a masked phone number' })),
  linked_mfa_type: Type.Optional(
    Nullable(OneOf(mfaTypes, { description: 'Second factor that the code belongs to' })),
  ),
  replace_existing: Type.Optional(
    Type.Boolean({ description: 'Extension: true when the page rejected the previous value' }),
  ),
})

const FlowField = Type.Object({
  id: Type.String({ description: 'Key for `field_values` when you submit a value' }),
  ref: Type.String({ description: 'Name of the value in a credential' }),
  type: OneOf(fieldKinds, {
    description: 'Purpose of the field',
  }),
  label: Type.Optional(Type.String({ description: 'Label on the page' })),
  required: Type.Optional(Type.Boolean({ description: 'Whether the page requires a value' })),
  reason: OneOf(fieldReasons, {
    description: '`missing`: nobody has given a value yet. `rejected`: the page rejected the previous value',
  }),
  hint: Type.Optional(Type.String({ description: 'Hint on the page, such as a masked phone number' })),
  input_mode: Type.Optional(OneOf(inputModes, { description: 'Keyboard that fits the value' })),
  observed_selector: Type.Optional(Nullable(Type.String({ description: 'CSS selector on the page' }))),
  replace_existing: Type.Boolean({ description: 'Whether `reason` is `rejected`; for older clients' }),
})

const FlowChoice = Type.Object({
  id: Type.String({ description: 'Value for `selected_choice_id` when you submit' }),
  type: OneOf(choiceKinds, { description: 'Kind of choice' }),
  label: Type.String({ description: 'Label on the page' }),
  description: Type.Optional(Nullable(Type.String({ description: 'Further text on the page' }))),
  context: Type.Optional(Nullable(Type.String({ description: 'What the page says about the choice' }))),
  display_text: Type.Optional(Nullable(Type.String({ description: 'Text to show for the choice' }))),
  masked_destination: Type.Optional(
    Nullable(Type.String({ description: 'Masked phone number or email address that a code goes to' })),
  ),
  mfa_type: Type.Optional(
    Nullable(OneOf(choiceMfaTypes, { description: 'Kind of second factor; null if it is none' })),
  ),
  observed_selector: Type.Optional(Nullable(Type.String({ description: 'CSS selector on the page' }))),
})

const MfaOption = Type.Object({
  type: OneOf(mfaTypes, { description: 'Value for `mfa_option_id` when you submit' }),
  label: Type.String({ description: 'Label on the page' }),
  target: Type.Optional(Nullable(Type.String({ description: 'Masked phone number or email address' }))),
  description: Type.Optional(Nullable(Type.String({ description: 'Further text on the page' }))),
})

const SignInOption = Type.Object({
  id: Type.String({ description: 'Value for `sign_in_option_id` when you submit' }),
  label: Type.String({ description: 'Label on the page' }),
  description: Type.Optional(Nullable(Type.String({ description: 'Further text on the page' }))),
})

const SsoButton = Type.Object({
  provider: Type.String({ description: 'Value for `sso_provider` when you submit, such as `google`' }),
  label: Type.String({ description: 'Label on the page' }),
  selector: Type.String({ description: 'XPath; value for `sso_button_selector` when you submit' }),
})

/** What clients 0.23 to 0.32 read of a question. */
export const askedLegacy = {
  pending_fields: Type.Optional(
    Nullable(
      Type.Array(DiscoveredField, { description: 'Fields to fill in, while the flow waits for input' }),
    ),
  ),
  mfa_options: Type.Optional(
    Nullable(Type.Array(MfaOption, { description: 'Second factors to choose from' })),
  ),
  sign_in_options: Type.Optional(
    Nullable(Type.Array(SignInOption, { description: 'Accounts to choose from' })),
  ),
  pending_sso_buttons: Type.Optional(
    Nullable(Type.Array(SsoButton, { description: 'Sign-in providers to choose from' })),
  ),
}

/** What the flow waits for, and how it ended. */
const askedFields = {
  fields: Type.Optional(
    Nullable(Type.Array(FlowField, { description: 'Fields to fill in, while the flow waits for input' })),
  ),
  choices: Type.Optional(
    Nullable(
      Type.Array(FlowChoice, { description: 'Choices to select from, while the flow waits for input' }),
    ),
  ),
  discovered_fields: Type.Optional(
    Nullable(Type.Array(DiscoveredField, { description: '`fields` in the format of older clients' })),
  ),
  mfa_options: Type.Optional(
    Nullable(
      Type.Array(MfaOption, { description: 'Second factors to choose from, in the format of older clients' }),
    ),
  ),
  sign_in_options: Type.Optional(
    Nullable(
      Type.Array(SignInOption, { description: 'Accounts to choose from, in the format of older clients' }),
    ),
  ),
  pending_sso_buttons: Type.Optional(
    Nullable(
      Type.Array(SsoButton, {
        description: 'Sign-in providers to choose from, in the format of older clients',
      }),
    ),
  ),
  interaction_id: maybe(
    'Id of the current question. Send it with a submission to have an outdated answer rejected',
  ),
  external_action_message: maybe(
    'What the user must do elsewhere, such as confirm on a phone, while the flow waits for it',
  ),
  website_error: maybe('Error message of the website'),
  error_code: maybe('Machine-readable reason why the flow failed'),
  error_message: maybe('Human-readable reason why the flow failed'),
  post_login_url: Type.Optional(
    Type.String({ description: 'URL of the browser after the last login; absent before the first one' }),
  ),
  hosted_url: maybe('Page where the user logs in, while a flow is in progress'),
  live_view_url: maybe('Live view of the browser, while a flow is in progress'),
}

export const CaptchaSolverRequest = Open(
  {
    url: Text({ description: 'Address that is asked', minLength: 1, maxLength: MAX_URL_LENGTH }),
    secret: hookSecret,
  },
  {
    title: 'CaptchaSolverRequest',
    description:
      'Extension: an address of yours that solves captchas. It gets a signed POST with the kind of captcha, its site key, the address of the page and a picture, and answers with `token` or `text`. Stored encrypted and never shown; null removes it',
  },
)
export type CaptchaSolverRequest = Static<typeof CaptchaSolverRequest>

export const ManagedAuth = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the connection' }),
    domain: Type.String({ description: 'Domain that the profile is logged in to' }),
    profile_name: Type.String({ description: 'Name of the profile' }),
    status: OneOf(connectionStatuses, { description: 'Last known login status' }),
    save_credentials: Type.Boolean({
      description:
        'Whether submitted values are saved after each successful login. One-time codes are never saved',
    }),
    record_session: Type.Boolean({
      description: 'Whether the browser sessions of the connection are recorded',
    }),
    allowed_domains: Type.Optional(
      Type.Array(Type.String(), { description: 'Further domains that a login may lead to' }),
    ),
    redirect_urls: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Extension: addresses that the hosted page may go to when the login is over',
      }),
    ),
    auto_reauth: Type.Optional(
      Type.Boolean({ description: 'Whether Berth logs in again automatically; requires `health_checks`' }),
    ),
    health_checks: Type.Optional(
      Type.Boolean({ description: 'Whether Berth regularly checks that the profile is still logged in' }),
    ),
    health_check_interval: Type.Optional(
      Nullable(Type.Integer({ description: 'Seconds between two health checks' })),
    ),
    can_reauth: Type.Optional(
      Type.Boolean({ description: 'Whether Berth is able to log in again automatically' }),
    ),
    can_reauth_reason: Type.Optional(
      OneOf(reauthReasons, { description: 'Why automatic login is possible or not' }),
    ),
    credential: Type.Optional(CredentialReference),
    has_captcha_solver: Type.Optional(
      Type.Boolean({ description: 'Extension: whether an address of yours solves captchas' }),
    ),
    browser: Type.Optional(ShownBrowser),
    proxy_id: Type.Optional(
      Type.String({ deprecated: true, description: 'Deprecated: use `browser.proxy.id`' }),
    ),
    browser_telemetry: Type.Optional(Nullable(TelemetryRequest)),
    login_url: Type.Optional(
      Type.String({
        description: 'URL of the login page. If none was given, the first successful login sets it',
      }),
    ),
    last_auth_check_at: Type.Optional(
      Timestamp('When the login status was last checked, whatever the result'),
    ),
    last_auth_at: Type.Optional(
      Type.String({
        format: 'date-time',
        deprecated: true,
        description: 'Deprecated: use `last_auth_check_at`',
      }),
    ),
    flow_status: Type.Optional(
      Nullable(OneOf(flowStatuses, { description: 'Status of the latest flow. Null before the first flow' })),
    ),
    flow_step: Type.Optional(
      Nullable(OneOf(flowSteps, { description: 'Step that the latest flow has reached' })),
    ),
    flow_type: Type.Optional(
      Nullable(
        OneOf(flowTypes, { description: '`LOGIN`: a client started the flow. `REAUTH`: Berth started it' }),
      ),
    ),
    flow_expires_at: Type.Optional(Nullable(Timestamp('When the flow expires'))),
    ...askedFields,
    sso_provider: maybe('Sign-in provider that the login uses'),
    browser_session_id: maybe('Id of the browser session, while a flow is in progress'),
    created_at: Timestamp('Extension: when the connection was created'),
  },
  { title: 'ManagedAuth' },
)
export type ManagedAuth = Static<typeof ManagedAuth>

const settings = {
  login_url: Type.Optional(
    Text({
      description: 'URL of the login page, if known. An empty string removes it',
      maxLength: MAX_URL_LENGTH,
    }),
  ),
  allowed_domains: Type.Optional(
    Type.Array(
      Text({
        description:
          'A host such as `example.com`; its subdomains belong to it. A leading `www.` or `*.` is dropped',
        maxLength: MAX_DOMAIN_LENGTH,
      }),
      {
        maxItems: MAX_DOMAINS,
        description:
          'Domains that the login may lead to, besides the domain itself and the usual identity providers. Replaces the whole list. A credential is typed only where its own domains allow it; an organisation-wide key adds these domains to a stored credential',
      },
    ),
  ),
  redirect_urls: Type.Optional(
    Type.Array(
      Text({ description: 'Such as `https://app.example/done`', minLength: 1, maxLength: MAX_URL_LENGTH }),
      {
        maxItems: MAX_REDIRECTS,
        description:
          'Extension: addresses that `success_url` and `error_url` of the hosted page may name. Query and fragment are not compared. Replaces the whole list',
      },
    ),
  ),
  credential: Type.Optional(CredentialReference),
  captcha_solver: Type.Optional(Nullable(CaptchaSolverRequest)),
  browser: Type.Optional(BrowserOptions),
  proxy: Type.Optional(ProxyReference),
  save_credentials: Type.Optional(
    Type.Boolean({
      description: 'Whether to save submitted values after a successful login; true by default',
    }),
  ),
  record_session: Type.Optional(
    Type.Boolean({ description: 'Whether to record the browser sessions; false by default' }),
  ),
  health_checks: Type.Optional(
    Type.Boolean({
      description: 'Whether to check regularly that the profile is still logged in; true by default',
    }),
  ),
  health_check_interval: Type.Optional(
    Type.Integer({
      minimum: MIN_CHECK_SECONDS,
      maximum: MAX_CHECK_SECONDS,
      description: 'Seconds between health checks; 3600 by default. The operator may set a higher minimum',
    }),
  ),
  auto_reauth: Type.Optional(
    Type.Boolean({ description: 'Whether to log in again automatically; true by default' }),
  ),
  browser_telemetry: Type.Optional(Nullable(TelemetryRequest)),
}

export const CreateConnectionRequest = Strict({
  domain: Text({
    description: 'A host such as `example.com`, with the port if it is not the default port',
    minLength: 1,
    maxLength: MAX_DOMAIN_LENGTH,
  }),
  profile_name: Text({
    description: 'Name of the profile; created if it does not exist',
    minLength: 1,
    maxLength: 255,
  }),
  ...settings,
})
export type CreateConnectionRequest = Static<typeof CreateConnectionRequest>

export const UpdateConnectionRequest = Strict(settings)
export type UpdateConnectionRequest = Static<typeof UpdateConnectionRequest>

export const LoginRequest = Strict({
  browser: Type.Optional(BrowserOptions),
  proxy: Type.Optional(ProxyReference),
  record_session: Type.Optional(
    Type.Boolean({ description: 'Overrides the setting of the connection for this flow' }),
  ),
  create_passkey: Type.Optional(
    Type.Boolean({
      description:
        'Extension: once the person is signed in, the flow goes on until they have added a passkey in the settings of the website. The credential keeps it, and later logins need nobody',
    }),
  ),
  browser_telemetry: Type.Optional(Nullable(TelemetryRequest)),
})
export type LoginRequest = Static<typeof LoginRequest>

export const LoginResponse = Type.Object(
  {
    id: Type.String({ description: 'Id of the connection' }),
    flow_type: OneOf(flowTypes, { description: 'Type of the flow' }),
    flow_expires_at: Timestamp('When the flow expires'),
    hosted_url: Type.String({
      description:
        'Page where the user logs in; it works once. You can add `success_url` and `error_url` as query parameters, if the connection has them in `redirect_urls`',
    }),
    handoff_code: Type.Optional(Type.String({ description: 'One-time code contained in `hosted_url`' })),
    live_view_url: Type.Optional(
      Type.String({ description: 'Live view of the browser, if it already runs' }),
    ),
  },
  { title: 'LoginResponse' },
)
export type LoginResponse = Static<typeof LoginResponse>

const value = Type.String({ maxLength: MAX_VALUE_LENGTH })
export const submittedValues = (description: string) =>
  Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 300 }), value, {
      description,
      maxProperties: MAX_VALUES,
    }),
  )

export const SubmitRequest = Strict(
  {
    field_values: submittedValues('Values by field id'),
    selected_choice_id: Type.Optional(Text({ description: 'Id of the selected choice', maxLength: 300 })),
    interaction_id: Type.Optional(
      Text({
        description:
          '`interaction_id` of the question that this answers. If the flow has moved on, the submission is rejected with 409',
        maxLength: 100,
      }),
    ),
    fields: submittedValues('Values by the name of a discovered field'),
    mfa_option_id: Type.Optional(Text({ description: 'Type or label of an MFA option', maxLength: 300 })),
    sign_in_option_id: Type.Optional(Text({ description: 'Id of a sign-in option', maxLength: 300 })),
    sso_button_selector: Type.Optional(Text({ description: 'Selector of an SSO button', maxLength: 1_000 })),
    sso_provider: Type.Optional(Text({ description: 'Provider of an SSO button', maxLength: 300 })),
  },
  {
    description:
      'Send `field_values`, `selected_choice_id` or both. Older clients send exactly one of the other fields instead; an empty map counts as absent',
  },
)
export type SubmitRequest = Static<typeof SubmitRequest>

export const eventKinds = ['managed_auth_state', 'sse_heartbeat'] as const

export const ManagedAuthEvent = Type.Object(
  {
    event: OneOf(eventKinds, { description: 'State of the connection, or a heartbeat of the stream' }),
    timestamp: Timestamp('Time of the event'),
    flow_status: Type.Optional(OneOf(flowStatuses, { description: 'Status of the latest flow' })),
    flow_step: Type.Optional(OneOf(flowSteps, { description: 'Step that the latest flow has reached' })),
    flow_type: Type.Optional(
      OneOf(flowTypes, { description: '`LOGIN`: a client started the flow. `REAUTH`: Berth started it' }),
    ),
    ...askedFields,
  },
  { title: 'ManagedAuthEvent' },
)
export type ManagedAuthEvent = Static<typeof ManagedAuthEvent>

export const timelineTypes = ['login', 'reauth', 'health_check'] as const
export type TimelineType = (typeof timelineTypes)[number]

export const TimelineEvent = Type.Object(
  {
    id: Type.String({ description: 'Id of the flow or health check' }),
    type: OneOf(timelineTypes, { description: 'Type of the event' }),
    timestamp: Timestamp('When it started'),
    status: OneOf([...flowStatuses, ...connectionStatuses] as const, {
      description: 'Status of the flow, or login status that the health check found',
    }),
    previous_status: Type.Optional(
      OneOf(connectionStatuses, { description: 'Health checks only: login status before the check' }),
    ),
    step: Type.Optional(OneOf(flowSteps, { description: 'Flows only: last step that the flow reached' })),
    error_code: Type.Optional(
      Type.String({
        description: 'Why the flow failed. Extension: `inconclusive` when a health check could not tell',
      }),
    ),
    error_message: Type.Optional(Type.String({ description: 'Human-readable form of `error_code`' })),
    website_error: Type.Optional(Type.String({ description: 'Error message of the website' })),
    browser_session_id: Type.Optional(Type.String({ description: 'Id of the browser session' })),
    replay_id: Type.Optional(Type.String({ description: 'Id of the recording of the session' })),
    telemetry_captured: Type.Optional(
      Type.Boolean({ description: 'Whether telemetry of the session was captured' }),
    ),
    updated_at: Type.Optional(Timestamp('Flows only: when the flow last changed')),
  },
  { title: 'ManagedAuthTimelineEvent' },
)
export type TimelineEvent = Static<typeof TimelineEvent>

export const ExplainedLoginStep = Type.Object(
  {
    number: Type.Integer({
      description: 'Counts from 1. Of a very long login, steps in the middle are left out',
    }),
    timestamp: Timestamp('When it began'),
    reason: Type.String({ description: 'Machine-readable reason why Berth acted, such as `fill`' }),
    why: Type.String({ description: '`reason` in words' }),
    saw: Type.String({ description: 'What the rules found on the page' }),
    did: Type.Array(Type.String(), { description: 'What Berth did there, in order' }),
    url: Type.Optional(Type.String({ description: 'Address of the page, without what may be a secret' })),
    title: Type.Optional(Type.String({ description: 'Title of the page' })),
    has_picture: Type.Boolean({ description: 'Whether the step has a picture' }),
    has_photo: Type.Boolean({
      description: 'Whether the picture is a photo, with all fields covered. Otherwise it is a drawing',
    }),
    page: Type.Optional(Type.Unknown({ description: 'With `pages`: the page as the rules saw it, masked' })),
    read: Type.Optional(Type.Unknown({ description: 'With `pages`: what the rules made of the page' })),
  },
  { title: 'ExplainedLoginStep' },
)
export type ExplainedLoginStep = Static<typeof ExplainedLoginStep>

export const LoginExplanation = Type.Object(
  {
    id: Type.String({ description: 'Id of the flow or health check' }),
    connection_id: Type.String({ description: 'Id of the connection' }),
    domain: Type.String({ description: 'Domain of the connection' }),
    type: OneOf(timelineTypes, { description: 'Type of the event' }),
    timestamp: Timestamp('When it started'),
    status: OneOf([...flowStatuses, ...connectionStatuses] as const, {
      description: 'Status of the flow, or login status that the health check found',
    }),
    error_code: Type.Optional(Type.String({ description: 'Why the flow failed' })),
    error_message: Type.Optional(Type.String({ description: 'Human-readable form of `error_code`' })),
    website_error: Type.Optional(Type.String({ description: 'Error message of the website' })),
    steps: Type.Array(ExplainedLoginStep, { description: 'Every decision, oldest first' }),
  },
  { title: 'LoginExplanation' },
)
export type LoginExplanation = Static<typeof LoginExplanation>

const params = Type.Object({ id: resourceId('connection') })
const entryParams = { id: resourceId('connection'), event_id: resourceId('event in the timeline') }

export const createConnection = operation({
  id: 'createAuthConnection',
  referenceIds: ['postAuthConnections'],
  tag,
  summary: 'Create a connection between a profile and a domain',
  method: 'POST',
  path: '/auth/connections',
  body: CreateConnectionRequest,
  status: 201,
  response: ManagedAuth,
  errors: ['bad_request', 'not_found', 'already_exists'],
})

export const listConnections = operation({
  id: 'listAuthConnections',
  referenceIds: ['getAuthConnections'],
  tag,
  summary: 'List connections, newest first',
  method: 'GET',
  path: '/auth/connections',
  query: Type.Object({
    ...pageQuery,
    profile_name: Type.Optional(Text({ description: 'Exact name of the profile', maxLength: 255 })),
    domain: Type.Optional(Text({ description: 'Exact domain', maxLength: MAX_DOMAIN_LENGTH })),
    query: Type.Optional(
      Text({ description: 'Text to find in the id, domain or profile name', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(ManagedAuth),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getConnection = operation({
  id: 'getAuthConnection',
  referenceIds: ['getAuthConnectionsById'],
  tag,
  summary: 'Get a connection, with the state of its latest flow',
  method: 'GET',
  path: '/auth/connections/{id}',
  auth: 'flow-token',
  anyOrigin: true,
  params,
  status: 200,
  response: ManagedAuth,
  errors: ['not_found'],
})

export const updateConnection = operation({
  id: 'updateAuthConnection',
  referenceIds: ['patchAuthConnectionsById'],
  tag,
  summary: 'Update a connection; omitted fields stay unchanged',
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
  referenceIds: ['deleteAuthConnectionsById'],
  tag,
  summary: 'Delete a connection and cancel its flow',
  description: 'Does not delete the profile or the credential.',
  method: 'DELETE',
  path: '/auth/connections/{id}',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found'],
})

export const login = operation({
  id: 'loginAuthConnection',
  referenceIds: ['postAuthConnectionsLogin'],
  tag,
  summary: 'Start a login flow',
  description:
    'Responds at once. Follow the flow with the `events` endpoint or by reading the connection. Replaces a flow that is past its `flow_expires_at`.',
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
  referenceIds: ['postAuthConnectionsSubmit'],
  tag,
  summary: 'Submit the input that a login flow waits for',
  method: 'POST',
  path: '/auth/connections/{id}/submit',
  auth: 'flow-token',
  anyOrigin: true,
  params,
  body: SubmitRequest,
  status: 202,
  response: Type.Object(
    { accepted: Type.Boolean({ description: 'Always true. The state of the flow shows the result' }) },
    { title: 'SubmitResponse' },
  ),
  errors: ['bad_request', 'not_found', 'conflict', 'no_active_flow'],
})

export const followConnection = operation({
  id: 'followAuthConnection',
  referenceIds: ['getAuthConnectionsEventsById'],
  tag,
  summary: 'Follow the login flow of a connection',
  description:
    'Starts with the current state and ends with the flow. Without a flow, the stream waits for one.',
  method: 'GET',
  path: '/auth/connections/{id}/events',
  auth: 'flow-token',
  anyOrigin: true,
  kind: 'events',
  contentType: 'text/event-stream',
  params,
  status: 200,
  response: ManagedAuthEvent,
  errors: ['not_found', 'too_many_requests'],
})

export const listTimeline = operation({
  id: 'listAuthConnectionTimeline',
  referenceIds: ['getAuthConnectionsTimelineById'],
  tag,
  summary: 'List the logins, re-authentications and health checks of a connection, newest first',
  method: 'GET',
  path: '/auth/connections/{id}/timeline',
  params,
  query: Type.Object({
    ...pageQuery,
    type: Type.Optional(OneOf(timelineTypes, { description: 'Only events of this type' })),
  }),
  status: 200,
  response: Type.Array(TimelineEvent),
  paging: 'offset',
  errors: ['bad_request', 'not_found'],
})

export const explainLogin = operation({
  id: 'explainAuthConnectionLogin',
  tag,
  summary: 'Extension: explain a login or health check, step by step',
  description:
    'Says what Berth saw on each page, why it acted, and what it did. Contains no value that anybody typed. With `pages`, the answer is a report from which a test of the rules can be made; read it before you pass it on, because a website writes what it likes on its pages.',
  method: 'GET',
  path: '/auth/connections/{id}/timeline/{event_id}',
  params: Type.Object(entryParams),
  query: Type.Object({
    pages: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to include the masked pages' }),
    ),
  }),
  status: 200,
  response: LoginExplanation,
  errors: ['bad_request', 'not_found', 'invalid_state'],
})

export const getStepPicture = operation({
  id: 'getAuthConnectionStepPicture',
  tag,
  summary: 'Extension: get the picture of a step of a login',
  description:
    'A photo of the page with all fields covered, if nothing was typed yet; otherwise a drawing of its controls. Either shows what the rules took each control for.',
  method: 'GET',
  path: '/auth/connections/{id}/timeline/{event_id}/steps/{number}/picture',
  kind: 'binary',
  contentType: 'image/svg+xml',
  params: Type.Object({
    ...entryParams,
    number: Type.String({ description: 'Number of the step', pattern: '^[0-9]{1,6}$', maxLength: 6 }),
  }),
  status: 200,
  errors: ['bad_request', 'not_found', 'invalid_state'],
})

export const cancelLogin = operation({
  id: 'cancelAuthConnectionLogin',
  tag,
  summary: 'Extension: cancel the login flow of a connection',
  description: 'The profile keeps its state from before the flow. Does nothing when no flow is in progress.',
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
  summary: 'Extension: check now whether a connection is still logged in',
  description:
    'Responds after the check, which takes several seconds. The result has the same effects as a regular health check. Also works when `health_checks` is off.',
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
  referenceIds: ['postAuthConnectionsExchange'],
  tag,
  summary: 'Exchange the one-time code of a flow for its token',
  description:
    'The token is valid for 30 minutes. It allows reading, following and submitting to this connection only.',
  method: 'POST',
  path: '/auth/connections/{id}/exchange',
  auth: 'handoff',
  anyOrigin: true,
  params,
  body: Strict({
    code: Text({ description: 'One-time code from `hosted_url`', minLength: 1, maxLength: 200 }),
  }),
  status: 200,
  response: Type.Object(
    {
      invocation_id: Type.String({ description: 'Id of the flow' }),
      jwt: Type.String({ description: 'Token of the flow; send it like an API key' }),
    },
    { title: 'HandoffToken' },
  ),
  errors: ['not_found', 'gone', 'too_many_requests'],
})
