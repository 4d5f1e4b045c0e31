// Requests with their answers, for the waterfall.
import type { TelemetryEvent } from '@berth/contracts/telemetry'

export interface Exchange {
  readonly seq: number
  readonly method: string
  readonly url: string
  readonly type: string
  readonly startMs: number
  endMs?: number
  /** Of the answer, for its details. */
  endSeq?: number
  status?: number
  error?: string
  bytes?: number
  waitMs?: number
  isCached?: boolean
  readonly found: string
}

const MAX_OPEN = 5_000

const textOf = (value: unknown, otherwise = '') => (typeof value === 'string' ? value : otherwise)

export class Exchanges {
  readonly list: Exchange[] = []
  readonly #open = new Map<string, Exchange>()

  add({ seq, event }: TelemetryEvent): void {
    const data = event.data ?? {}
    const key = `${String(data['session_id'])} ${String(data['request_id'])}`
    if (event.type === 'network_request') return this.#begin(key, seq, event)
    if (event.type !== 'network_response' && event.type !== 'network_loading_failed') return
    const exchange = this.#open.get(key)
    if (!exchange) return
    this.#open.delete(key)
    exchange.endMs = event.ts / 1000
    exchange.endSeq = seq
    if (event.type === 'network_loading_failed') {
      exchange.error = data['canceled'] === true ? 'cancelled' : textOf(data['error_text'], 'failed')
      return
    }
    const { metadata = {} } = event.source
    exchange.status = Number(data['status'])
    const size = metadata['encoded_bytes'] ?? metadata['body_bytes']
    if (size !== undefined) exchange.bytes = Number(size)
    if (metadata['wait_ms'] !== undefined) exchange.waitMs = Number(metadata['wait_ms'])
    if (metadata['from_cache'] === 'true') exchange.isCached = true
  }

  #begin(key: string, seq: number, event: TelemetryEvent['event']): void {
    const data = event.data ?? {}
    const method = textOf(data['method'], 'GET')
    const url = textOf(data['url'])
    const type = textOf(data['resource_type'])
    const found = `${method} ${url} ${type}`.toLowerCase()
    const exchange: Exchange = { seq, method, url, type, startMs: event.ts / 1000, found }
    this.list.push(exchange)
    this.#open.set(key, exchange)
    // One that never got an answer must not stay for ever.
    if (this.#open.size > MAX_OPEN) this.#open.delete(this.#open.keys().next().value!)
  }

  /** Forgets what began before this event. */
  dropBefore(seq: number): void {
    const first = this.list.findIndex((exchange) => exchange.seq >= seq)
    this.list.splice(0, first === -1 ? this.list.length : first)
  }
}
