// Every error the service can answer with: one row each, listed in the docs and in OpenAPI.
import { Type, type Static } from 'typebox'

interface ErrorRow {
  readonly status: number
  readonly meaning: string
  /** Sent as `x-should-retry: false`: published clients would otherwise send a 409 three times. */
  readonly final?: true
}

const catalogue = {
  bad_request: { status: 400, meaning: 'The request is malformed; details name each field' },
  cannot_delete_current_key: {
    status: 400,
    meaning: 'A key cannot delete itself; use another key',
  },
  resource_in_use: {
    status: 400,
    meaning: 'Something still uses the resource; the message says what',
  },
  pool_in_use: {
    status: 400,
    meaning: 'Browsers of the pool are leased; release them first, or set `force`',
  },
  unauthorized: { status: 401, meaning: 'The API key is missing, unknown, expired or deleted' },
  forbidden: { status: 403, meaning: 'The key is valid but may not do this' },
  not_found: { status: 404, meaning: 'No such resource, or not one this key may see' },
  project_not_found: {
    status: 404,
    meaning: 'The header or field names no active project of this organisation',
  },
  method_not_allowed: { status: 405, meaning: 'The path exists, but not with this method' },
  request_timeout: { status: 408, meaning: 'The request body did not arrive in time' },
  conflict: { status: 409, meaning: 'The resource is not in a state that allows this', final: true },
  already_exists: { status: 409, meaning: 'The name is taken', final: true },
  last_active_project: {
    status: 409,
    meaning: 'The organisation must keep one active project',
    final: true,
  },
  project_not_empty: {
    status: 409,
    meaning: 'The project still holds resources; delete them first',
    final: true,
  },
  idempotency_key_reused: {
    status: 409,
    meaning: 'The Idempotency-Key was used with a different request',
    final: true,
  },
  gone: {
    status: 410,
    meaning: 'The one-time code was used, or its login flow is over; begin another login',
  },
  payload_too_large: { status: 413, meaning: 'The request body is larger than allowed' },
  unsupported_media_type: { status: 415, meaning: 'Send the body as application/json' },
  range_not_satisfiable: { status: 416, meaning: 'The Range header asks for bytes that are not there' },
  misdirected_request: {
    status: 421,
    meaning: 'The Host header is not one this server answers for; see BERTH_ALLOWED_HOSTS',
  },
  invalid_state: { status: 422, meaning: 'Stored data cannot be used as it is' },
  process_timed_out: {
    status: 422,
    meaning: 'The program took longer than its `timeout_sec` and was ended',
  },
  upgrade_required: { status: 426, meaning: 'Only a websocket is served here; see the Upgrade header' },
  too_many_requests: { status: 429, meaning: 'The rate limit is reached; see Retry-After' },
  too_many_sessions: {
    status: 429,
    meaning: 'The project or the organisation has as many sessions at once as it may; end one first',
  },
  too_many_invocations: {
    status: 429,
    meaning: 'The project or the organisation has as many invocations at once as it may; wait for one to end',
  },
  headers_too_large: { status: 431, meaning: 'The request headers are larger than allowed' },
  internal_error: { status: 500, meaning: 'A fault of the server, logged with the request id' },
  request_failed: {
    status: 502,
    meaning: 'The browser got no answer from the target; net_error_name says why',
    final: true,
  },
  store_unreachable: {
    status: 502,
    meaning: 'The Chrome Web Store did not give the extension; the message says why',
  },
  provider_unreachable: {
    status: 502,
    meaning: 'The credential provider did not give what was asked of it; the message says why',
  },
  unavailable: {
    status: 503,
    meaning: 'The server is starting, draining, or cannot reach its database; retry',
  },
  sessions_unavailable: {
    status: 503,
    meaning: 'This host cannot run sessions safely; the message says what it lacks',
    final: true,
  },
  insufficient_storage: {
    status: 507,
    meaning: 'The disk of the server, or of the instance, is full',
    final: true,
  },
  capacity_exhausted: {
    status: 529,
    meaning: 'The host has no room for another session now; the message says why',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof catalogue
export const errorCatalogue: Readonly<Record<ErrorCode, ErrorRow>> = catalogue
export const errorCodes = Object.keys(catalogue) as ErrorCode[]

export const ErrorDetail = Type.Object(
  {
    code: Type.Optional(Type.String({ description: 'Lower-level code, such as `invalid_input`' })),
    message: Type.Optional(Type.String({ description: 'What is wrong and where' })),
  },
  { title: 'ErrorDetail' },
)

export const ErrorBody = Type.Object(
  {
    code: Type.String({ description: 'Machine-readable code from the error catalogue' }),
    message: Type.String({ description: 'What went wrong and what to do about it' }),
    details: Type.Optional(Type.Array(ErrorDetail, { description: 'Further errors' })),
    inner_error: Type.Optional(ErrorDetail),
    existing_id: Type.Optional(
      Type.String({ description: 'Of `already_exists`, for connections: the one there is' }),
    ),
    net_error: Type.Optional(Type.Integer({ description: "Of `request_failed`: Chromium's own number" })),
    net_error_name: Type.Optional(Type.String({ description: 'Such as `ERR_CONNECTION_REFUSED`' })),
  },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>
