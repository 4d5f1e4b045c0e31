import { Readable } from 'node:stream'
import type { IncomingMessage } from 'node:http'
import { relay } from '@berth/contracts/link'
import { readBounded } from '@berth/kit/read-bounded'
import { checked } from '../../checks/check.ts'
import { ControlError, type ControlCall, type ControlOperation } from '../calls/operation.ts'
import { checks } from './curl.checks.ts'
import { requestFailed } from './failure.ts'
import { bodyLength, headersOfBody, passable, sizeOf, type Header } from './headers.ts'
import type { Requests } from './requests.ts'

const DEFAULT_MS = 30_000
/** Limit for a request body, which is sent to Chromium in one message. */
const MAX_SENT_BYTES = 16 * 1024 * 1024
/** Limits for a response body in a JSON answer: its bytes, and its length after escaping. */
const MAX_GIVEN_BYTES = 16 * 1024 * 1024
const MAX_GIVEN_TEXT = 30 * 1024 * 1024
/** The server limits the head of our answer, where the names of headers are longer. */
const MAX_HEADER_BYTES = 64 * 1024

export function curlOperations(requests: Requests): readonly ControlOperation[] {
  return [
    { method: 'POST', path: '/curl', handle: (call) => curl(requests, call) },
    ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
      method,
      path: '/curl/raw',
      takesStream: true,
      handle: (call: ControlCall) => curlRaw(requests, call),
    })),
  ]
}

async function curl(requests: Requests, { body: given, signal }: ControlCall): Promise<object> {
  const {
    url,
    method = 'GET',
    headers = {},
    body,
    timeout_ms: timeoutMs = DEFAULT_MS,
    response_encoding,
  } = checked(checks.curlBrowser, given)
  const began = performance.now()
  // Frees the target in any case.
  const over = new AbortController()
  const late = setTimeout(
    () => over.abort(requestFailed(`${timeoutMs} ms are over`, 'ERR_TIMED_OUT')),
    timeoutMs,
  )
  try {
    const answer = await requests.send(
      {
        url,
        method,
        headers: Object.entries(headers),
        body: body === undefined ? undefined : Buffer.from(body),
      },
      { timeoutMs, signal: AbortSignal.any([signal, over.signal]) },
    )
    const bytes = await readBounded(answer.body, { maxBytes: MAX_GIVEN_BYTES, tooLarge: tooLong })
    const text = bytes.toString(response_encoding ?? 'utf8')
    if (JSON.stringify(text).length > MAX_GIVEN_TEXT) throw tooLong()
    return {
      status: answer.status,
      headers: byName(headersOfBody(answer.headers)),
      body: text,
      duration_ms: Math.round(performance.now() - began),
    }
  } finally {
    clearTimeout(late)
    over.abort()
  }
}

async function curlRaw(requests: Requests, { query, request, signal }: ControlCall) {
  const body = await readBody(request)
  const answer = await requests.send(
    { url: query.get('url')!, method: request.method!, headers: headersOf(request), body },
    { timeoutMs: Number(query.get('timeout_ms') ?? DEFAULT_MS), signal },
  )
  const length = bodyLength(answer.headers)
  const headers = passable(headersOfBody(answer.headers))
  if (sizeOf(headers) > MAX_HEADER_BYTES) {
    throw requestFailed('its headers are too long', 'ERR_RESPONSE_HEADERS_TOO_BIG')
  }
  return {
    status: answer.status,
    headers,
    bytes: Readable.from(answer.body, { objectMode: false }),
    ...(length !== undefined && { length }),
  }
}

function headersOf({ headers }: IncomingMessage): Header[] {
  return Object.entries(headers).flatMap(([name, value]): Header[] =>
    name.startsWith(relay.header) ? [[name.slice(relay.header.length), String(value)]] : [],
  )
}

function byName(headers: readonly Header[]): Record<string, string[]> {
  const map = Map.groupBy(headers, ([name]) => name)
  return Object.fromEntries([...map].map(([name, each]) => [name, each.map(([, value]) => value)]))
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const most = `${MAX_SENT_BYTES / 1024 / 1024} MiB`
  const bytes = await readBounded(request, {
    maxBytes: MAX_SENT_BYTES,
    tooLarge: () =>
      new ControlError('payload_too_large', `Cannot send this: the body is larger than ${most}`),
  })
  return bytes.length === 0 ? undefined : bytes
}

function tooLong(): ControlError {
  const most = `${MAX_GIVEN_BYTES / 1024 / 1024} MiB`
  return requestFailed(`it is larger than ${most}; curl/raw passes on answers of any size`)
}
