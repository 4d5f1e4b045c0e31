// Requests by the browser itself: with its cookies, its user agent, its way out and its fingerprint.
import { Type } from 'typebox'
import { control } from './control.ts'
import type { Method } from './operation.ts'
import { OneOf, Strict } from './schema.ts'

const tag = 'Requests'

const url = Type.String({
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s]+$',
  maxLength: 8192,
  examples: ['http://127.0.0.1:1/'],
  description: 'Of the target: http or https',
})

const timeout = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1000, maximum: 60_000, default: 30_000, description }))

// A token of RFC 9110 for the name, and nothing that would end the line for the value.
const headers = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$" }),
  Type.String({ pattern: '^[^\\x00\\r\\n]*$', maxLength: 16_384 }),
  { additionalProperties: false, maxProperties: 100, description: 'Added to those of the browser' },
)

const CurlResponse = Type.Object(
  {
    status: Type.Integer({ description: 'Of the last answer, after redirects' }),
    headers: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'By lower-case name' }),
    body: Type.String({ description: 'As text or base64, as asked for' }),
    duration_ms: Type.Integer({ description: 'How long it took' }),
  },
  { title: 'CurlResponse' },
)

export const curlBrowser = control({
  id: 'curlBrowser',
  tag,
  summary: 'Send a request by the browser',
  method: 'POST',
  at: '/curl',
  body: Strict({
    url,
    method: Type.Optional(
      OneOf(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const, {
        default: 'GET',
        description: 'Of the request',
      }),
    ),
    headers: Type.Optional(headers),
    body: Type.Optional(Type.String({ description: 'Of the request' })),
    timeout_ms: timeout('For the whole answer'),
    response_encoding: Type.Optional(
      OneOf(['utf8', 'base64'] as const, { default: 'utf8', description: 'How the body is given back' }),
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
    summary: `Send this request by the browser as ${method}, and get the answer of the target as it is`,
    method,
    at: '/curl/raw',
    kind: 'relay',
    contentType: '*/*',
    query: Type.Object({
      url,
      timeout_ms: timeout('Until the answer begins, and between its pieces'),
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
