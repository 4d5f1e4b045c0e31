// Reports requests of pages, frames and workers, from the request to the last byte of the response. Nothing is
// intercepted. Complete text bodies are read from Chromium, which keeps them up to a limit, and cut.
import {
  MAX_OTHER_BODY,
  MAX_STRUCTURED_BODY,
  PROXY_ERROR_HEADER,
  proxyErrorCodes,
} from '@berth/contracts/telemetry-events'
import { nowUs } from './ring.ts'
import type { Scene, Tab, Target, Watch } from './target.ts'
import { Cutter } from './text.ts'

const KEPT = {
  maxTotalBufferSize: 16 * 1024 * 1024,
  maxResourceBufferSize: 4 * 1024 * 1024,
  maxPostDataSize: 64 * 1024,
}
const IDLE_MS = 500
const BODY_MS = 5_000
/**
 * A response that receives nothing for this long counts as complete, because a response whose body the page never
 * reads would never complete.
 */
const STALLED_MS = 5_000
const LOOK_EVERY_MS = 1_000
/** Bodies read at once; responses beyond this limit are reported without a body. */
const MAX_BODIES = 256
const MAX_UNDER_WAY = 10_000
const MAX_URL = 8 * 1024
const MAX_HEADERS = 32 * 1024
const MAX_ERROR = 1024

const STRUCTURED =
  /^(application\/(json|xml|x-www-form-urlencoded|graphql|[^;]+\+(json|xml|csv))|text\/(xml|csv|[^;]+\+(json|xml)))$/
const OTHER_TEXT = /^text\/(plain|html)$/
const WITHOUT_BODY = new Set(['Font', 'Image', 'Media', 'Stylesheet', 'Script'])
/** These stay open after a page has loaded, so network idle ignores them. */
const ENDLESS = new Set(['EventSource', 'WebSocket'])
/** Nothing of it leaves the browser. */
const LOCAL = /^(data|blob):/
/** Chromium's failure for abandoned requests. */
const LEFT = { errorText: 'net::ERR_ABORTED', canceled: true }
/** Errors of Chromium behind which there may be a reason that egress knows. */
const CONNECTION_FAILED =
  /ERR_(CONNECTION_|TUNNEL_|PROXY_|NAME_|ADDRESS_|EMPTY_RESPONSE|SOCKET_|TIMED_OUT|INTERNET_|INVALID_HTTP_RESPONSE)/
/** Questions about failures at once; the others stay without a reason. */
const MAX_ASKED = 16
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 }
const REQUEST_ID = '"requestId":"'
const WANTED_HEADER = PROXY_ERROR_HEADER.toLowerCase()

/** Asks egress why a connection has just failed. */
export type FailureOf = (to: {
  host: string
  port: number
}) => Promise<{ readonly code: string; readonly status: number } | undefined>

interface CdpRequest {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly postData?: string
  readonly hasPostData?: boolean
}

interface CdpResponse {
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly headers: Record<string, string>
  readonly mimeType?: string
  readonly protocol?: string
  readonly remoteIPAddress?: string
  readonly encodedDataLength?: number
  readonly fromDiskCache?: boolean
}

interface WillBeSent {
  readonly requestId: string
  readonly loaderId?: string
  readonly documentURL?: string
  readonly request: CdpRequest
  readonly timestamp: number
  readonly initiator?: { readonly type?: string }
  readonly redirectResponse?: CdpResponse
  readonly type?: string
  readonly frameId?: string
}

interface Received {
  readonly requestId: string
  readonly timestamp: number
  readonly response: CdpResponse
  readonly type?: string
}

interface UnderWay {
  readonly url: string
  readonly method: string
  readonly type: string
  readonly frameId: string | undefined
  readonly loaderId: string | undefined
  readonly sentAt: number
  response?: CdpResponse
  waitMs?: number
  /** When the last part of the response arrived. */
  activeAt?: number
}

/** The requests of one target by id. */
class Requests extends Map<string, UnderWay> {
  readonly target: Target

  constructor(target: Target) {
    super()
    this.target = target
  }
}

interface Quiet {
  open: number
  timer: NodeJS.Timeout | undefined
}

export class NetworkWatch implements Watch {
  readonly #scene: Scene
  readonly #onActivity: (target: Target) => void
  readonly #failureOf: FailureOf
  readonly #underWay = new Map<string, Requests>()
  readonly #quiet = new Map<Tab, Quiet>()
  #bodies = 0
  #asked = 0
  #looking: NodeJS.Timeout | undefined

  readonly handlers: Watch['handlers'] = [
    ['Network.requestWillBeSent', (target, params: WillBeSent) => this.#onSent(target, params)],
    ['Network.responseReceived', (target, params: Received) => this.#onReceived(target, params)],
    ['Network.loadingFinished', (target, params: Finished) => this.#onFinished(target, params)],
    ['Network.loadingFailed', (target, params: Failed) => this.#onFailed(target, params)],
    ['Network.webSocketCreated', (target, params: SocketCreated) => this.#onSocketCreated(target, params)],
    [
      'Network.webSocketWillSendHandshakeRequest',
      (target, params: SocketSent) => this.#onSocketSent(target, params),
    ],
    [
      'Network.webSocketHandshakeResponseReceived',
      (target, params: Received) => this.#onSocketReceived(target, params),
    ],
    ['Network.webSocketFrameError', (target, params: SocketError) => this.#onSocketError(target, params)],
    ['Network.webSocketClosed', (target, params: Finished) => this.#onSocketClosed(target, params)],
  ]

  constructor(
    scene: Scene,
    { onActivity, failureOf }: { onActivity: (target: Target) => void; failureOf: FailureOf },
  ) {
    this.#scene = scene
    this.#onActivity = onActivity
    this.#failureOf = failureOf
  }

  apply(target: Target): Promise<unknown>[] {
    const isWanted = this.#scene.categories().has('network')
    const isOn = target.listening.has('network')
    if (isWanted && !isOn) {
      target.listening.add('network')
      this.#underWay.set(target.sessionId, new Requests(target))
      return [this.#scene.call(target, 'Network.enable', KEPT)]
    }
    if (!isWanted && isOn) {
      target.listening.delete('network')
      this.remove(target)
      return [this.#scene.call(target, 'Network.disable', {})]
    }
    return []
  }

  /** Pending requests end with the target. */
  remove(target: Target): void {
    for (const [requestId, { response, type }] of this.#underWay.get(target.sessionId) ?? []) {
      if (response) this.#onStalled(target, requestId)
      else if (type === 'WebSocket') this.#endSocket(target, requestId, LEFT)
      else this.#onFailed(target, { requestId, ...LEFT })
    }
    this.#underWay.delete(target.sessionId)
    if (target.type === 'iframe') return
    clearTimeout(this.#quiet.get(target.tab)?.timer)
    this.#quiet.delete(target.tab)
  }

  #onSent(target: Target, sent: WillBeSent): void {
    const { requestId, loaderId, frameId, request, redirectResponse } = sent
    const known = this.#underWay.get(target.sessionId)
    if (!known || LOCAL.test(request.url)) return
    const before = known.get(requestId)
    if (redirectResponse && before) {
      this.#take(target, requestId)
      this.#emitResponse(target, { requestId, request: before, response: redirectResponse, endedAt: nowUs() })
    }
    const type = sent.type ?? 'Other'
    if (known.size < MAX_UNDER_WAY) {
      const { url, method } = request
      known.set(requestId, { url, method, type, frameId, loaderId, sentAt: sent.timestamp })
      this.#begins(target, type)
    }
    const cutter = new Cutter()
    const isCutPost = request.hasPostData === true && request.postData === undefined
    this.#emit({
      type: 'network_request',
      event: 'Network.requestWillBeSent',
      data: {
        ...target.context({ frameId, loaderId, url: cutter.cut(request.url, MAX_URL) }),
        request_id: requestId,
        method: request.method,
        headers: cutter.cutMap(request.headers, MAX_HEADERS),
        post_data: request.postData,
        document_url: sent.documentURL && cutter.cut(sent.documentURL, MAX_URL),
        resource_type: type,
        initiator_type: sent.initiator?.type,
        is_redirect: redirectResponse !== undefined,
        redirect_url: redirectResponse && cutter.cut(redirectResponse.url, MAX_URL),
      },
      isTruncated: cutter.isTruncated || isCutPost,
    })
  }

  #onReceived(target: Target, { requestId, response, timestamp }: Received): void {
    const request = this.#holderOf(target, requestId)?.get(requestId)
    if (!request) return
    request.response = response
    request.waitMs = (timestamp - request.sentAt) * 1000
    request.activeAt = performance.now()
    this.#looking ??= setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#reportProxyError(target, { requestId, request, response })
  }

  #reportProxyError(
    target: Target,
    { requestId, request, response }: { requestId: string; request: UnderWay; response: CdpResponse },
  ): void {
    const code = proxyErrorOf(response)
    if (code === undefined) return
    const { status } = response
    const event = 'Network.responseReceived'
    this.#emitProxyError(target, { requestId, request, event, failure: { code, status } })
  }

  /** Of a connection that failed, Chromium knows only how it ended. */
  async #explainFailure(target: Target, requestId: string, request: UnderWay): Promise<void> {
    const url = URL.parse(request.url)
    const port = url && (Number(url.port) || PORTS[url.protocol])
    if (!url || !port || this.#asked >= MAX_ASKED) return
    this.#asked++
    try {
      const failure = await this.#failureOf({ host: url.hostname, port })
      const event = 'Network.loadingFailed'
      if (failure) this.#emitProxyError(target, { requestId, request, event, failure })
    } catch {
      // No server is there at the moment; the failure itself was reported.
    } finally {
      this.#asked--
    }
  }

  #emitProxyError(
    target: Target,
    told: { requestId: string; request: UnderWay; event: string; failure: { code: string; status: number } },
  ): void {
    const { requestId, request, event, failure } = told
    const { frameId, loaderId, url, method, type } = request
    const cutter = new Cutter()
    this.#emit({
      type: 'proxy_error',
      event,
      data: {
        ...target.context({ frameId, loaderId, url: cutter.cut(url, MAX_URL) }),
        code: failure.code,
        request_id: requestId,
        status: failure.status,
        method,
        resource_type: type,
      },
      isTruncated: cutter.isTruncated,
    })
  }

  /** Called with unparsed messages, because there may be very many. */
  onData(sessionId: string, text: string): void {
    const from = text.indexOf(REQUEST_ID) + REQUEST_ID.length
    const request = this.#underWay.get(sessionId)?.get(text.slice(from, text.indexOf('"', from)))
    if (request) request.activeAt = performance.now()
  }

  #look(): void {
    const now = performance.now()
    let isAnyLeft = false
    for (const requests of this.#underWay.values()) {
      for (const [requestId, { response, activeAt = now, type }] of requests) {
        if (!response) continue
        if (now - activeAt < STALLED_MS || ENDLESS.has(type)) isAnyLeft = true
        else this.#onStalled(requests.target, requestId)
      }
    }
    if (isAnyLeft) return
    clearInterval(this.#looking)
    this.#looking = undefined
  }

  #onStalled(target: Target, requestId: string): void {
    const request = this.#take(target, requestId)
    if (!request?.response) return
    const { response } = request
    this.#emitResponse(target, { requestId, request, response, endedAt: nowUs(), isCut: true })
  }

  #onFinished(target: Target, { requestId, encodedDataLength }: Finished): void {
    const request = this.#take(target, requestId)
    const response = request?.response
    if (!request || !response) return
    this.#onActivity(target)
    const told = { requestId, request, response, endedAt: nowUs(), encodedDataLength }
    const most = maxOfBody(request, response)
    if (most === 0) return this.#emitResponse(target, told)
    if (this.#bodies >= MAX_BODIES || encodedDataLength > KEPT.maxResourceBufferSize) {
      return this.#emitResponse(target, { ...told, isCut: true })
    }
    this.#bodies++
    this.#bodyOf(target, requestId)
      .then((body) => this.#emitResponse(target, { ...told, ...cutBody(body, most) }))
      // The body was too large for Chromium to keep, or the page is gone.
      .catch(() => this.#emitResponse(target, { ...told, isCut: encodedDataLength > 0 }))
      .finally(() => this.#bodies--)
  }

  async #bodyOf(target: Target, requestId: string): Promise<Buffer | string> {
    const asked = this.#scene.call<{ body: string; base64Encoded: boolean }>(
      target,
      'Network.getResponseBody',
      {
        requestId,
      },
    )
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('It takes too long')), BODY_MS)
    try {
      const { body, base64Encoded } = await Promise.race([asked, promise])
      return base64Encoded ? Buffer.from(body, 'base64') : body
    } finally {
      clearTimeout(timer)
      asked.catch(() => {})
    }
  }

  #onFailed(target: Target, { requestId, errorText, canceled, type }: Failed): void {
    const request = this.#take(target, requestId)
    if (!request) return
    this.#fail(target, requestId, request, { errorText, canceled: canceled ?? false, type })
  }

  #fail(
    target: Target,
    requestId: string,
    request: UnderWay,
    failure: { errorText: string; canceled: boolean; type?: string | undefined },
  ): void {
    const { frameId, loaderId, url, type } = request
    const cutter = new Cutter()
    this.#emit({
      type: 'network_loading_failed',
      event: 'Network.loadingFailed',
      data: {
        ...target.context({ frameId, loaderId, url: cutter.cut(url, MAX_URL) }),
        request_id: requestId,
        error_text: cutter.cut(failure.errorText, MAX_ERROR),
        canceled: failure.canceled,
        resource_type: failure.type ?? type,
      },
      isTruncated: cutter.isTruncated,
    })
    const isUnexplained = !failure.canceled && CONNECTION_FAILED.test(failure.errorText)
    if (isUnexplained) void this.#explainFailure(target, requestId, request)
  }

  #onSocketCreated(target: Target, { requestId, url, initiator }: SocketCreated): void {
    const known = this.#underWay.get(target.sessionId)
    if (!known || known.size >= MAX_UNDER_WAY) return
    // The handshake adds the missing fields.
    known.set(requestId, {
      url,
      method: 'GET',
      type: 'WebSocket',
      frameId: undefined,
      loaderId: initiator?.type,
      sentAt: 0,
    })
  }

  #onSocketSent(target: Target, { requestId, timestamp, request }: SocketSent): void {
    const known = this.#underWay.get(target.sessionId)
    const socket = known?.get(requestId)
    if (!known || !socket) return
    const initiator = socket.loaderId
    known.set(requestId, { ...socket, loaderId: undefined, sentAt: timestamp })
    const cutter = new Cutter()
    this.#emit({
      type: 'network_request',
      event: 'Network.webSocketWillSendHandshakeRequest',
      data: {
        ...target.context({ url: cutter.cut(socket.url, MAX_URL) }),
        request_id: requestId,
        method: 'GET',
        headers: cutter.cutMap(request.headers, MAX_HEADERS),
        document_url: target.tab.url,
        resource_type: 'WebSocket',
        initiator_type: initiator,
        is_redirect: false,
      },
      isTruncated: cutter.isTruncated,
    })
  }

  #onSocketReceived(target: Target, { requestId, timestamp, response }: Received): void {
    const request = this.#underWay.get(target.sessionId)?.get(requestId)
    if (!request) return
    this.#underWay.get(target.sessionId)!.delete(requestId)
    request.waitMs = (timestamp - request.sentAt) * 1000
    this.#emitResponse(target, { requestId, request, response, endedAt: nowUs() })
  }

  #onSocketError(target: Target, { requestId, errorMessage }: SocketError): void {
    this.#endSocket(target, requestId, { errorText: errorMessage, canceled: false })
  }

  #onSocketClosed(target: Target, { requestId }: Finished): void {
    this.#endSocket(target, requestId, LEFT)
  }

  /** Reports a websocket that never connected; the end of a connected one is not reported. */
  #endSocket(target: Target, requestId: string, failure: { errorText: string; canceled: boolean }): void {
    const known = this.#underWay.get(target.sessionId)
    const request = known?.get(requestId)
    if (!request) return
    known!.delete(requestId)
    if (request.sentAt > 0) this.#fail(target, requestId, request, failure)
  }

  #emitResponse(target: Target, told: Told): void {
    const { requestId, request, response, endedAt, encodedDataLength, body, bodyBytes, isCut } = told
    const { frameId, loaderId, method, type, waitMs } = request
    const cutter = new Cutter()
    const metadata = {
      ...(response.protocol && { protocol: response.protocol }),
      ...(response.remoteIPAddress && { remote_address: response.remoteIPAddress }),
      ...(encodedDataLength !== undefined && { encoded_bytes: String(Math.round(encodedDataLength)) }),
      ...(bodyBytes !== undefined && { body_bytes: String(bodyBytes) }),
      ...(waitMs !== undefined && { wait_ms: waitMs.toFixed(3) }),
      ...(response.fromDiskCache && { from_cache: 'true' }),
    }
    this.#emit({
      type: 'network_response',
      event: type === 'WebSocket' ? 'Network.webSocketHandshakeResponseReceived' : 'Network.loadingFinished',
      ts: endedAt,
      metadata,
      data: {
        ...target.context({ frameId, loaderId, url: cutter.cut(response.url ?? request.url, MAX_URL) }),
        request_id: requestId,
        method,
        status: response.status,
        status_text: cutter.cut(response.statusText, MAX_ERROR),
        headers: cutter.cutMap(response.headers, MAX_HEADERS),
        mime_type: response.mimeType && cutter.cut(response.mimeType, MAX_ERROR),
        resource_type: type,
        body,
      },
      isTruncated: cutter.isTruncated || isCut === true,
    })
  }

  #emit(told: {
    type: 'network_request' | 'network_response' | 'network_loading_failed' | 'proxy_error'
    event: string
    data: object
    isTruncated: boolean
    ts?: number
    metadata?: Record<string, string>
  }): void {
    if (!this.#scene.categories().has('network')) return
    this.#scene.emit({
      type: told.type,
      source: { kind: 'cdp', event: told.event, ...(told.metadata && { metadata: told.metadata }) },
      data: told.data,
      truncated: told.isTruncated,
      ...(told.ts !== undefined && { ts: told.ts }),
    })
  }

  #take(target: Target, requestId: string): UnderWay | undefined {
    const holder = this.#holderOf(target, requestId)
    const request = holder?.get(requestId)
    if (!holder || !request) return undefined
    holder.delete(requestId)
    this.#isOver(holder.target, request.type)
    return request
  }

  /** A worker's script is requested by its page, but arrives in the worker. */
  #holderOf({ sessionId, parent }: Target, requestId: string): Requests | undefined {
    const own = this.#underWay.get(sessionId)
    if (own?.has(requestId) || !parent) return own
    return this.#underWay.get(parent.sessionId)
  }

  #begins(target: Target, type: string): void {
    if (ENDLESS.has(type)) return
    const quiet = this.#quiet.get(target.tab) ?? { open: 0, timer: undefined }
    this.#quiet.set(target.tab, quiet)
    quiet.open++
    clearTimeout(quiet.timer)
    quiet.timer = undefined
  }

  #isOver(target: Target, type: string): void {
    const quiet = this.#quiet.get(target.tab)
    if (!quiet || ENDLESS.has(type)) return
    quiet.open = Math.max(0, quiet.open - 1)
    if (quiet.open > 0) return
    clearTimeout(quiet.timer)
    quiet.timer = setTimeout(() => {
      quiet.timer = undefined
      if (!this.#scene.categories().has('network')) return
      this.#scene.emit({ type: 'network_idle', source: { kind: 'cdp' }, data: target.context() })
    }, IDLE_MS)
  }
}

interface Finished {
  readonly requestId: string
  readonly encodedDataLength: number
}

interface Failed {
  readonly requestId: string
  readonly errorText: string
  readonly canceled?: boolean
  readonly type?: string
}

interface SocketCreated {
  readonly requestId: string
  readonly url: string
  readonly initiator?: { readonly type?: string }
}

interface SocketSent {
  readonly requestId: string
  readonly timestamp: number
  readonly request: { readonly headers: Record<string, string> }
}

interface SocketError {
  readonly requestId: string
  readonly errorMessage: string
}

interface Told {
  readonly requestId: string
  readonly request: UnderWay
  readonly response: CdpResponse
  readonly endedAt: number
  readonly encodedDataLength?: number
  readonly body?: string
  readonly bodyBytes?: number
  readonly isCut?: boolean
}

/** Egress answers plain HTTP only, so a website that sends the header over TLS is not believed. */
function proxyErrorOf({ url, headers }: CdpResponse): string | undefined {
  if (!url.startsWith('http://')) return undefined
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === WANTED_HEADER)
  return proxyErrorCodes.find((code) => code === found?.[1])
}

/** In bytes; 0 when there is no text body. */
function maxOfBody({ type, method }: UnderWay, { mimeType = '', status }: CdpResponse): number {
  if (WITHOUT_BODY.has(type) || method === 'HEAD' || status === 204 || status === 304) return 0
  const mime = mimeType.toLowerCase()
  if (STRUCTURED.test(mime)) return MAX_STRUCTURED_BODY
  return OTHER_TEXT.test(mime) ? MAX_OTHER_BODY : 0
}

function cutBody(body: Buffer | string, most: number): { body: string; bodyBytes: number; isCut: boolean } {
  const cutter = new Cutter()
  const bodyBytes = Buffer.byteLength(body)
  // Cut before decoding, because only the start of a large body is used.
  const text = typeof body === 'string' ? body : body.subarray(0, most + 4).toString()
  const short = cutter.cut(text, most)
  return { body: short, bodyBytes, isCut: cutter.isTruncated || bodyBytes > most }
}
