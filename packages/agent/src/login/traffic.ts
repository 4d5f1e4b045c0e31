// Tracks the pending requests that a page waits for, and the requests that it polls with.

/** Request types that change what a page shows. */
const COUNTED = new Set(['Document', 'XHR', 'Fetch', 'Script', 'Stylesheet'])
const ASKING = new Set(['XHR', 'Fetch'])
/** A request that is still open after a whole look and this time is meant to stay open. */
const LASTING_MS = 10_000
/** A response that takes longer is a stream, or its page does not read it. */
const STREAM_MS = 1_000
const POLLS = 3
/** Requests that are closer together are one burst. Requests that are further apart are not polling. */
const MIN_APART_MS = 300
const MAX_APART_MS = 20_000
const MAX_OPEN = 2_000
const MAX_ADDRESSES = 500

interface UnderWay {
  readonly sessionId: string
  readonly loaderId: string
  readonly address: string
  readonly type: string
  readonly since: number
  answeredAt: number | undefined
  isEndured: boolean
}

interface Asked {
  count: number
  at: number
}

export interface Sent {
  readonly requestId: string
  readonly loaderId: string
  readonly url: string
  readonly method: string
  readonly type: string
}

/** Chromium reports that a worker's own script is requested, and never that it has arrived. */
function isOfWorker(requestId: string, type: string): boolean {
  // The requests of documents are numbered within their process: 4711.12
  return type === 'Script' && !requestId.includes('.')
}

export class Traffic {
  readonly #open = new Map<string, UnderWay>()
  readonly #asked = new Map<string, Asked>()
  #movedAt = performance.now()

  /** When a request last started or ended. */
  get movedAt(): number {
    return this.#movedAt
  }

  begin(sessionId: string, { requestId, loaderId, url, method, type }: Sent): void {
    if (!COUNTED.has(type) || !/^https?:/.test(url) || isOfWorker(requestId, type)) return
    const address = `${method} ${url.split(/[?#]/, 1)[0]}`
    if (ASKING.has(type)) this.#count(address)
    if (this.#open.size >= MAX_OPEN) return
    const since = this.#open.get(requestId)?.since ?? performance.now()
    this.#open.set(requestId, {
      sessionId,
      loaderId,
      address,
      type,
      since,
      answeredAt: undefined,
      isEndured: false,
    })
    if (!this.#isPolled(address)) this.#movedAt = performance.now()
  }

  answered(requestId: string): void {
    const request = this.#open.get(requestId)
    if (request) request.answeredAt = performance.now()
  }

  end(requestId: string): void {
    const request = this.#open.get(requestId)
    if (!request) return
    this.#open.delete(requestId)
    if (!this.#isPolled(request.address)) this.#movedAt = performance.now()
  }

  /** Drops requests of earlier documents. */
  keepOnly(loaderId: string): void {
    for (const [requestId, request] of this.#open) {
      if (request.loaderId !== loaderId) this.#open.delete(requestId)
    }
    this.#movedAt = performance.now()
  }

  forget(sessionId: string): void {
    for (const [requestId, request] of this.#open) {
      if (request.sessionId === sessionId) this.#open.delete(requestId)
    }
  }

  get isBusy(): boolean {
    const now = performance.now()
    for (const { isEndured, answeredAt, type, address } of this.#open.values()) {
      const isStream = ASKING.has(type) && answeredAt !== undefined && now - answeredAt > STREAM_MS
      if (!isEndured && !isStream && !(ASKING.has(type) && this.#isPolled(address))) return true
    }
    return false
  }

  /** Ignores long requests after a look has ended without them. */
  endure(): void {
    const now = performance.now()
    for (const request of this.#open.values()) {
      if (now - request.since > LASTING_MS) request.isEndured = true
    }
  }

  get isPolling(): boolean {
    return [...this.#asked.keys()].some((address) => this.#isPolled(address))
  }

  #count(address: string): void {
    const now = performance.now()
    const asked = this.#asked.get(address)
    if (asked && now - asked.at < MIN_APART_MS) return
    const count = asked && now - asked.at < MAX_APART_MS ? asked.count + 1 : 1
    this.#asked.delete(address)
    if (this.#asked.size >= MAX_ADDRESSES) {
      const [oldest] = this.#asked.keys()
      this.#asked.delete(oldest!)
    }
    this.#asked.set(address, { count, at: now })
  }

  #isPolled(address: string): boolean {
    const asked = this.#asked.get(address)
    return asked !== undefined && asked.count >= POLLS && performance.now() - asked.at < MAX_APART_MS
  }
}
