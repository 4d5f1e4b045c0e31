// A request while it is being made up, and the bytes it becomes.
import type { Exchange } from '../conformance/http-exchange.ts'
import type { DescribedOperation } from './document.ts'

export interface FuzzRequest {
  readonly operation: DescribedOperation
  method: string
  /** What stands for `{id}`, as it was meant and before it was encoded. */
  reference: string | undefined
  path: string
  query: [name: string, value: string][]
  /** Instead of the query, as it is. */
  rawQuery?: string
  headers: [name: string, value: string][]
  key: string | undefined
  body: unknown
  /** Instead of the body, as it is. */
  rawBody?: string | Buffer
  /** What was done to it, in words. */
  readonly mutations: string[]
  /** Answers that only what was done to it explains. */
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

/** A lone surrogate has no UTF-8 form; the replacement character stands in. */
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
