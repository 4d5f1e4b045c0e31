// Requests that the browser sends with its own cookies, user agent, egress and fingerprint.
import { Type } from 'typebox'
import { control } from './control.ts'
import type { Method } from './operation.ts'
import { OneOf, Strict } from './schema.ts'

const tag = 'Requests'

const url = Type.String({
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s]+$',
  maxLength: 8192,
  examples: ['http://127.0.0.1:1/'],
  description: 'URL to request, http or https',
})

const timeout = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1000, maximum: 60_000, default: 30_000, description }))

// Names are RFC 9110 tokens. Values must not contain a line break.
const headers = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$" }),
  Type.String({ pattern: '^[^\\x00\\r\\n]*$', maxLength: 16_384 }),
  { additionalProperties: false, maxProperties: 100, description: 'Headers to add to those of the browser' },
)

const CurlResponse = Type.Object(
  {
    status: Type.Integer({ description: 'HTTP status of the final response, after redirects' }),
    headers: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'Response headers by lower-case name',
    }),
    body: Type.String({ description: 'Response body, encoded as requested in `response_encoding`' }),
    duration_ms: Type.Integer({ description: 'Duration of the request in milliseconds' }),
  },
  { title: 'CurlResponse' },
)

export const curlBrowser = control({
  id: 'curlBrowser',
  referenceIds: ['browserCurl'],
  tag,
  summary: 'Send an HTTP request from the browser',
  method: 'POST',
  at: '/curl',
  body: Strict({
    url,
    method: Type.Optional(
      OneOf(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const, {
        default: 'GET',
        description: 'HTTP method',
      }),
    ),
    headers: Type.Optional(headers),
    body: Type.Optional(Type.String({ description: 'Request body' })),
    timeout_ms: timeout('Milliseconds until the whole response must have arrived'),
    response_encoding: Type.Optional(
      OneOf(['utf8', 'base64'] as const, { default: 'utf8', description: 'Encoding of the response body' }),
    ),
  }),
  status: 200,
  response: CurlResponse,
  errors: ['request_failed', 'too_many_requests', 'unavailable'],
})

const raw = <const M extends Method>(method: M) =>
  control({
    id: `curlRaw${method[0]}${method.slice(1).toLowerCase()}`,
    tag,
    summary: `Forward this request from the browser as ${method} and return the raw response`,
    method,
    at: '/curl/raw',
    kind: 'relay',
    contentType: '*/*',
    query: Type.Object({
      url,
      timeout_ms: timeout('Milliseconds to wait for the start of the response, and between its parts'),
    }),
    ...(method !== 'GET' && { bodyStream: 'bytes' as const }),
    status: 200,
    errors: ['request_failed', 'payload_too_large', 'too_many_requests', 'unavailable', 'forbidden'],
  })

export const curlRawGet = raw('GET')
export const curlRawPost = raw('POST')
export const curlRawPut = raw('PUT')
export const curlRawPatch = raw('PATCH')
export const curlRawDelete = raw('DELETE')
