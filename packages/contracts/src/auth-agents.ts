// Connections and their login flows as clients 0.23 to 0.32 call them: an auth agent is a connection, and an invocation
// of it is a login flow.
import { Type, type Static } from 'typebox'
import {
  askedLegacy,
  connectionStatuses,
  flowStatuses,
  MAX_DOMAIN_LENGTH,
  MAX_DOMAINS,
  MAX_URL_LENGTH,
  reauthReasons,
  submittedValues,
} from './auth-connections.ts'
import { CredentialReference } from './credentials.ts'
import { operation } from './operation.ts'
import { Nullable, OneOf, Open, pageQuery, resourceId, Text, Timestamp } from './schema.ts'

const tag = 'Auth agents'

export const invocationSteps = [
  'initialized',
  'discovering',
  'awaiting_input',
  'awaiting_external_action',
  'submitting',
  'completed',
  'expired',
] as const
export type InvocationStep = (typeof invocationSteps)[number]

const invocationTypes = ['login', 'reauth'] as const

const maybe = (description: string) => Type.Optional(Nullable(Type.String({ description })))

const TargetDomain = Type.Optional(
  Text({ description: 'The name of `domain` in clients before 0.25', maxLength: MAX_DOMAIN_LENGTH }),
)

export const AuthAgent = Type.Object(
  {
    id: Type.String({ description: 'Unique id; also that of the connection' }),
    domain: Type.String({ description: 'Domain that the profile is logged in to' }),
    profile_name: Type.String({ description: 'Name of the profile' }),
    status: OneOf(connectionStatuses, { description: 'Last known login status' }),
    last_auth_check_at: Type.Optional(Timestamp('When the login status was last checked')),
    credential: Type.Optional(CredentialReference),
    credential_name: Type.Optional(Type.String({ description: 'Name of the stored credential' })),
    can_reauth: Type.Optional(
      Type.Boolean({ description: 'Whether Berth is able to log in again automatically' }),
    ),
    can_reauth_reason: Type.Optional(
      OneOf(reauthReasons, { description: 'Why automatic login is possible or not' }),
    ),
    allowed_domains: Type.Optional(
      Type.Array(Type.String(), { description: 'Further domains that a login may lead to' }),
    ),
    post_login_url: Type.Optional(
      Type.String({ description: 'URL of the browser after the login, without query and fragment' }),
    ),
  },
  { title: 'AuthAgent' },
)
export type AuthAgent = Static<typeof AuthAgent>

export const CreateAuthAgentRequest = Open(
  {
    domain: Type.Optional(
      Text({ description: 'A host such as `example.com`', maxLength: MAX_DOMAIN_LENGTH }),
    ),
    target_domain: TargetDomain,
    profile_name: Text({
      description: 'Name of the profile; created if it does not exist',
      minLength: 1,
      maxLength: 255,
    }),
    login_url: Type.Optional(Text({ description: 'URL of the login page', maxLength: MAX_URL_LENGTH })),
    allowed_domains: Type.Optional(
      Type.Array(Text({ description: 'A host; its subdomains belong to it', maxLength: MAX_DOMAIN_LENGTH }), {
        maxItems: MAX_DOMAINS,
        description: 'Further domains that a login may lead to',
      }),
    ),
    credential_name: Type.Optional(Text({ description: 'Name of a stored credential', maxLength: 255 })),
    proxy: Type.Optional(
      Open(
        { proxy_id: Type.Optional(Text({ description: 'Id of the proxy', maxLength: 255 })) },
        { description: 'Proxy of its browser sessions' },
      ),
    ),
  },
  { description: 'Send `domain` or, in clients before 0.25, `target_domain`' },
)
export type CreateAuthAgentRequest = Static<typeof CreateAuthAgentRequest>

export const AuthInvocation = Type.Object(
  {
    app_name: Type.String({ description: 'Always `Berth`' }),
    domain: Type.String({ description: 'Domain of the login' }),
    target_domain: Type.String({ description: 'The same, for clients before 0.25' }),
    status: OneOf(flowStatuses, { description: 'Status of the flow' }),
    step: OneOf(invocationSteps, { description: 'Step that the flow has reached' }),
    type: OneOf(invocationTypes, {
      description: '`login`: a client started the flow. `reauth`: Berth started it',
    }),
    expires_at: Timestamp('When the flow expires'),
    ...askedLegacy,
    external_action_message: maybe('What the user must do elsewhere, while the flow waits for it'),
    error_message: maybe('Why the flow failed'),
    live_view_url: maybe('Live view of the browser, while the flow is in progress'),
    sso_provider: maybe('Sign-in provider that the login uses'),
  },
  { title: 'AuthInvocation' },
)
export type AuthInvocation = Static<typeof AuthInvocation>

export const AuthInvocationCreated = Type.Object(
  {
    invocation_id: Type.String({ description: 'Id of the flow' }),
    status: OneOf(['invocation_created'] as const, { description: 'For clients before 0.25' }),
    type: OneOf(invocationTypes, { description: 'Type of the flow' }),
    handoff_code: Type.String({ description: 'One-time code contained in `hosted_url`' }),
    hosted_url: Type.String({ description: 'Page where the user logs in; it works once' }),
    expires_at: Timestamp('When the flow expires'),
  },
  { title: 'AuthInvocationCreated' },
)
export type AuthInvocationCreated = Static<typeof AuthInvocationCreated>

export const SubmitInvocationRequest = Open(
  {
    field_values: submittedValues('Values by the name of a pending field'),
    sso_button: Type.Optional(Text({ description: 'Selector of an SSO button', maxLength: 1_000 })),
    selected_mfa_type: Type.Optional(Text({ description: 'Type of an MFA option', maxLength: 300 })),
  },
  { description: 'Send exactly one of the fields' },
)
export type SubmitInvocationRequest = Static<typeof SubmitInvocationRequest>

const agentParams = Type.Object({ id: resourceId('auth agent') })
const invocationParams = Type.Object({ invocation_id: resourceId('invocation') })

const instead = (path: string) => `Deprecated, for clients 0.23 to 0.32: use \`${path}\`.`

export const createAuthAgent = operation({
  id: 'createAuthAgent',
  tag,
  summary: 'Create an auth agent, or get the one of this profile and domain',
  description: instead('POST /auth/connections'),
  deprecated: true,
  method: 'POST',
  path: '/agents/auth',
  body: CreateAuthAgentRequest,
  status: 200,
  response: AuthAgent,
  errors: ['bad_request', 'not_found'],
})

export const listAuthAgents = operation({
  id: 'listAuthAgents',
  tag,
  summary: 'List auth agents, newest first',
  description: instead('GET /auth/connections'),
  deprecated: true,
  method: 'GET',
  path: '/agents/auth',
  query: Type.Object({
    ...pageQuery,
    profile_name: Type.Optional(Text({ description: 'Exact name of the profile', maxLength: 255 })),
    domain: Type.Optional(Text({ description: 'Exact domain', maxLength: MAX_DOMAIN_LENGTH })),
    target_domain: TargetDomain,
  }),
  status: 200,
  response: Type.Array(AuthAgent),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getAuthAgent = operation({
  id: 'getAuthAgent',
  tag,
  summary: 'Get an auth agent',
  description: instead('GET /auth/connections/{id}'),
  deprecated: true,
  method: 'GET',
  path: '/agents/auth/{id}',
  params: agentParams,
  status: 200,
  response: AuthAgent,
  errors: ['not_found'],
})

export const deleteAuthAgent = operation({
  id: 'deleteAuthAgent',
  tag,
  summary: 'Delete an auth agent and cancel its flow',
  description: instead('DELETE /auth/connections/{id}'),
  deprecated: true,
  method: 'DELETE',
  path: '/agents/auth/{id}',
  kind: 'empty',
  params: agentParams,
  status: 204,
  errors: ['not_found'],
})

export const createAuthInvocation = operation({
  id: 'createAuthInvocation',
  tag,
  summary: 'Start a login flow of an auth agent',
  description: instead('POST /auth/connections/{id}/login'),
  deprecated: true,
  method: 'POST',
  path: '/agents/auth/invocations',
  body: Open({
    auth_agent_id: Text({ description: 'Id of the auth agent', minLength: 1, maxLength: 255 }),
    save_credential_as: Type.Optional(
      Text({
        description:
          'Name of a new credential for what the user types, if the login succeeds and the agent has no credential. Nothing is saved without it',
        minLength: 1,
        maxLength: 255,
      }),
    ),
  }),
  status: 200,
  response: AuthInvocationCreated,
  errors: ['bad_request', 'not_found', 'conflict', 'sessions_unavailable'],
})

export const getAuthInvocation = operation({
  id: 'getAuthInvocation',
  tag,
  summary: 'Get the state of a login flow',
  description: instead('GET /auth/connections/{id}'),
  deprecated: true,
  method: 'GET',
  path: '/agents/auth/invocations/{invocation_id}',
  auth: 'flow-token',
  params: invocationParams,
  status: 200,
  response: AuthInvocation,
  errors: ['not_found'],
})

export const exchangeAuthInvocation = operation({
  id: 'exchangeAuthInvocation',
  tag,
  summary: 'Exchange the one-time code of a flow for its token',
  description: instead('POST /auth/connections/{id}/exchange'),
  deprecated: true,
  method: 'POST',
  path: '/agents/auth/invocations/{invocation_id}/exchange',
  auth: 'handoff',
  params: invocationParams,
  body: Open({
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

export const submitAuthInvocation = operation({
  id: 'submitAuthInvocation',
  tag,
  summary: 'Submit the input that a login flow waits for',
  description: instead('POST /auth/connections/{id}/submit'),
  deprecated: true,
  method: 'POST',
  path: '/agents/auth/invocations/{invocation_id}/submit',
  auth: 'flow-token',
  params: invocationParams,
  body: SubmitInvocationRequest,
  status: 202,
  response: Type.Object(
    {
      accepted: Type.Boolean({ description: 'Always true. The state of the flow shows the result' }),
      success: Type.Boolean({ description: 'The same, for clients before 0.25' }),
    },
    { title: 'InvocationSubmitResponse' },
  ),
  errors: ['bad_request', 'not_found', 'conflict', 'no_active_flow'],
})
