// Exports the network events of a session as an HTTP Archive (HAR) 1.2. It streams, because a long session does not fit
// in memory. Entries are written in the order of their start, unless one takes longer than thousands after it.
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import { readLines, type Archive } from './history.ts'

const MAX_OPEN = 2_000

interface Data {
  readonly request_id?: string
  readonly session_id?: string
  readonly url?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly post_data?: string
  readonly status?: number
  readonly status_text?: string
  readonly mime_type?: string
  readonly body?: string
  readonly resource_type?: string
  readonly error_text?: string
  readonly target_id?: string
}

interface Exchange {
  readonly began: TelemetryEvent['event']
  ended?: TelemetryEvent['event']
}

export async function* harOf(
  archive: Archive,
  sessionId: string,
  creator: { name: string; version: string },
): AsyncGenerator<string> {
  const open: Exchange[] = []
  const byRequest = new Map<string, Exchange>()
  let isFirst = true
  const write = (exchange: Exchange) => {
    const text = JSON.stringify(entryOf(exchange))
    const separator = isFirst ? '\n' : ',\n'
    isFirst = false
    return separator + text
  }
  yield `{"log":{"version":"1.2","creator":${JSON.stringify(creator)},"pages":[],"entries":[`
  for await (const { line } of readLines(archive, sessionId, { order: 'asc', categories: ['network'] })) {
    const { event } = JSON.parse(line) as TelemetryEvent
    const data = (event.data ?? {}) as Data
    const key = `${data.session_id} ${data.request_id}`
    if (event.type === 'network_request') {
      const exchange = { began: event }
      open.push(exchange)
      byRequest.set(key, exchange)
    } else if (event.type === 'network_response' || event.type === 'network_loading_failed') {
      const exchange = byRequest.get(key)
      if (exchange) exchange.ended = event
      byRequest.delete(key)
    }
    while (open[0]?.ended || open.length > MAX_OPEN) yield write(open.shift()!)
  }
  for (const exchange of open) yield write(exchange)
  yield '\n]}}\n'
}

function entryOf({ began, ended }: Exchange): object {
  const asked = (began.data ?? {}) as Data
  const time = ended ? Math.max(0, (ended.ts - began.ts) / 1000) : 0
  const known = ended?.source.metadata ?? {}
  const wait = Math.min(time, Number(known['wait_ms'] ?? time) || 0)
  return {
    startedDateTime: new Date(began.ts / 1000).toISOString(),
    time,
    request: requestOf(asked, known),
    response: responseOf(ended, known),
    cache: {},
    timings: { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait, receive: time - wait },
    ...(asked.resource_type && { _resourceType: asked.resource_type.toLowerCase() }),
    ...(known['remote_address'] && { serverIPAddress: known['remote_address'] }),
  }
}

function requestOf(asked: Data, known: Readonly<Record<string, string>>): object {
  const url = asked.url ?? ''
  const search = URL.parse(url)?.searchParams ?? new URLSearchParams()
  const headers = headersOf(asked.headers)
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? ''
  return {
    method: asked.method ?? 'GET',
    url,
    httpVersion: known['protocol'] ?? 'unknown',
    cookies: [],
    headers,
    queryString: [...search].map(([name, value]) => ({ name, value })),
    ...(asked.post_data !== undefined && {
      postData: { mimeType: type, params: [], text: asked.post_data },
    }),
    headersSize: -1,
    bodySize: asked.post_data === undefined ? 0 : Buffer.byteLength(asked.post_data),
  }
}

function responseOf(
  ended: TelemetryEvent['event'] | undefined,
  known: Readonly<Record<string, string>>,
): object {
  const got = (ended?.data ?? {}) as Data
  const isAnswer = ended?.type === 'network_response'
  const headers = headersOf(got.headers)
  const size = Number(known['body_bytes'] ?? (got.body === undefined ? 0 : Buffer.byteLength(got.body)))
  return {
    status: isAnswer ? (got.status ?? 0) : 0,
    statusText: isAnswer ? (got.status_text ?? '') : '',
    httpVersion: known['protocol'] ?? 'unknown',
    cookies: [],
    headers,
    content: {
      size,
      mimeType: got.mime_type ?? 'x-unknown',
      ...(got.body !== undefined && { text: got.body }),
      ...(ended?.truncated && { comment: 'truncated' }),
    },
    redirectURL: headers.find(({ name }) => name.toLowerCase() === 'location')?.value ?? '',
    headersSize: -1,
    bodySize: known['encoded_bytes'] === undefined ? -1 : Number(known['encoded_bytes']),
    ...(got.error_text && { _error: got.error_text }),
  }
}

function headersOf(headers: Data['headers'] = {}): { name: string; value: string }[] {
  return Object.entries(headers).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }))
}
