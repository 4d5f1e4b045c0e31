// Every error that the server can return. The docs and OpenAPI list them.
import { Type, type Static } from 'typebox'
import { PlaywrightExecutor } from './playwright-executor.ts'

interface ErrorRow {
  readonly status: number
  readonly meaning: string
  /** Sends `x-should-retry: false`. Without it, published clients send the request three times. */
  readonly final?: true
}

const catalogue = {
  bad_request: { status: 400, meaning: 'The request is invalid; `details` names each field' },
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
    meaning: 'The requested project does not exist or is not active',
  },
  method_not_allowed: { status: 405, meaning: 'The path exists, but not with this method' },
  request_timeout: { status: 408, meaning: 'The request body did not arrive in time' },
  conflict: { status: 409, meaning: 'The current state of the resource does not allow this', final: true },
  already_exists: { status: 409, meaning: 'The name is already in use', final: true },
  last_active_project: {
    status: 409,
    meaning: 'The organisation needs at least one active project',
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
    meaning: 'The one-time code was already used, or its login flow has ended; start another login',
  },
  payload_too_large: { status: 413, meaning: 'The request body is larger than allowed' },
  storage_full: {
    status: 413,
    meaning: 'The project may not store more; the message says what it stores and what to do',
  },
  unsupported_media_type: { status: 415, meaning: 'Send the body as application/json' },
  range_not_satisfiable: {
    status: 416,
    meaning: 'The Range header requests bytes beyond the end of the file',
  },
  misdirected_request: {
    status: 421,
    meaning: 'The server does not serve this Host header; see BERTH_ALLOWED_HOSTS',
  },
  no_active_flow: {
    status: 422,
    meaning: 'No login is in progress that could take a submission; begin one first',
  },
  invalid_state: { status: 422, meaning: 'Berth cannot use the stored data in its current state' },
  process_timed_out: {
    status: 422,
    meaning: 'The program ran longer than its `timeout_sec` and was killed',
  },
  upgrade_required: {
    status: 426,
    meaning: 'This path only accepts WebSocket connections; see the Upgrade header',
  },
  too_many_requests: { status: 429, meaning: 'The rate limit is reached; see Retry-After' },
  too_many_sessions: {
    status: 429,
    meaning: 'The project or organisation has reached its limit of concurrent sessions; end one first',
  },
  too_many_invocations: {
    status: 429,
    meaning:
      'The project or organisation has reached its limit of concurrent invocations; wait for one to end',
  },
  headers_too_large: { status: 431, meaning: 'The request headers are larger than allowed' },
  internal_error: { status: 500, meaning: 'The server failed; its log has the cause under the request id' },
  request_failed: {
    status: 502,
    meaning: 'The browser got no response from the target; `net_error_name` says why',
    final: true,
  },
  store_unreachable: {
    status: 502,
    meaning: 'The Chrome Web Store did not deliver the extension; the message says why',
  },
  provider_unreachable: {
    status: 502,
    meaning: 'The credential provider did not return the requested data; the message says why',
  },
  unavailable: {
    status: 503,
    meaning:
      'The server is starting or draining, has no memory left to wake the session, or cannot reach its database or its store of files; retry',
  },
  sessions_unavailable: {
    status: 503,
    meaning: 'This host cannot run sessions safely; the message says what it lacks',
    final: true,
  },
  insufficient_storage: {
    status: 507,
    meaning: 'The disk of the server or of the instance is full',
    final: true,
  },
  capacity_exhausted: {
    status: 529,
    meaning: 'No host has capacity for another session at the moment; the message says why',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof catalogue
export const errorCatalogue: Readonly<Record<ErrorCode, ErrorRow>> = catalogue
export const errorCodes = Object.keys(catalogue) as ErrorCode[]

export const ErrorDetail = Type.Object(
  {
    code: Type.Optional(Type.String({ description: 'More specific code, such as `invalid_input`' })),
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
      Type.String({ description: 'For `already_exists` of connections: id of the existing connection' }),
    ),
    net_error: Type.Optional(Type.Integer({ description: "For `request_failed`: Chromium's error number" })),
    net_error_name: Type.Optional(
      Type.String({
        description: "For `request_failed`: Chromium's error name, such as `ERR_CONNECTION_REFUSED`",
      }),
    ),
    executors: Type.Optional(
      Type.Array(PlaywrightExecutor, {
        description:
          'For `conflict` of `playwright/execute`: the executors of the session, one of which must end first',
      }),
    ),
  },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>
