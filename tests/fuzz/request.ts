// A request under construction, and its bytes.
import type { Exchange } from '../conformance/http-exchange.ts'
import type { DescribedOperation } from './document.ts'

export interface FuzzRequest {
  readonly operation: DescribedOperation
  method: string
  /** The value for `{id}`, before encoding. */
  reference: string | undefined
  path: string
  query: [name: string, value: string][]
  /** Raw text instead of the query. */
  rawQuery?: string
  headers: [name: string, value: string][]
  key: string | undefined
  body: unknown
  /** Raw text instead of the body. */
  rawBody?: string | Buffer
  /** The mutations, in words. */
  readonly mutations: string[]
  /** Answers that only the mutations explain. */
  readonly alsoAllowed: Set<number>
}

export function toExchange(request: FuzzRequest): Exchange {
  const query = request.rawQuery ?? encodeQuery(request.query)
  const body = request.rawBody ?? (request.body === undefined ? undefined : JSON.stringify(request.body))
  const hasType = request.headers.some(([name]) => name.toLowerCase() === 'content-type')
  return {
    method: request.method,
    path: request.path + (query ? `?${query}` : ''),
    headers: [
      ...(request.key === undefined ? [] : [['Authorization', `Bearer ${request.key}`] as const]),
      ...(body !== undefined && !hasType ? [['Content-Type', 'application/json'] as const] : []),
      ...request.headers,
    ],
    body,
  }
}

function encodeQuery(query: FuzzRequest['query']): string {
  return query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
}

/** A lone surrogate has no UTF-8 form and becomes the replacement character. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** Everything needed to send it again, on one line. */
export function describeRequest(request: FuzzRequest): string {
  const { method, path, headers = [], body } = toExchange(request)
  const shown = headers.map(([name, value]) => [name, value.slice(0, 300)])
  const text = body === undefined ? undefined : Buffer.from(body).toString('latin1').slice(0, 2000)
  return JSON.stringify({
    method,
    path: path.slice(0, 2000),
    headers: shown,
    body: text,
    mutations: request.mutations,
  })
}
