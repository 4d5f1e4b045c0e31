// One request and its response, as a navigation of a hidden target. So Chromium adds its cookies, user agent and proxy,
// stores new cookies, and follows redirects. The navigation is paused before the request is sent, to replace method,
// headers and body, and again when the response arrives, to read the body at the caller's pace. It never continues, so
// no page loads and nothing in the response runs.
import { pause } from '@berth/kit/pause'
import type { CdpEvent } from '../../cdp/cdp-connection.ts'
import { requestFailed } from './failure.ts'
import { bodyLength, mergedHeaders, type Header } from './headers.ts'
import type { Target } from './targets.ts'

/** Longer than our own limits, which end the exchange. This one only ends leftover CDP calls. */
const NAVIGATION_MS = 120_000
const PIECE_BYTES = 512 * 1024
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Chromium reports cookies in a separate event at the same time; for a cached response it reports none. */
const COOKIES_MS = 50

export interface Wanted {
  readonly url: string
  readonly method: string
  readonly headers: readonly Header[]
  readonly body: Buffer | undefined
}

export interface Head {
  readonly status: number
  readonly headers: readonly Header[]
}

interface Paused {
  readonly requestId: string
  readonly request: { readonly url: string; readonly headers: Record<string, string> }
  readonly resourceType: string
  readonly responseStatusCode?: number
  readonly responseHeaders?: { readonly name: string; readonly value: string }[]
  readonly responseErrorReason?: string
}

export class Exchange {
  readonly #target: Target
  readonly #wanted: Wanted
  readonly #head = Promise.withResolvers<Head>()
  #navigated: Promise<void> = Promise.resolve()
  #isRedirected = false
  /** Cookies of the last response, which may be a redirect. */
  #cookies: { readonly status: number; readonly values: readonly string[] } | undefined
  #onCookies: (() => void) | undefined
  /** Id of the paused response. */
  #held: string | undefined
  /** Length of the body, if known. */
  #length: number | undefined

  constructor(target: Target, wanted: Wanted) {
    this.#target = target
    this.#wanted = wanted
    this.#head.promise.catch(() => {})
  }

  /** Resolves when the response begins; rejects with the reason if there is none. */
  begin(): Promise<Head> {
    this.#navigated = this.#navigate()
    return this.#head.promise
  }

  take({ method, params }: CdpEvent): void {
    if (method === 'Fetch.authRequired') {
      // A response that asks for a password is returned like any other.
      const authChallengeResponse = { response: 'CancelAuth' }
      this.#dispatch('Fetch.continueWithAuth', { requestId: params['requestId'], authChallengeResponse })
      return
    }
    // SAFETY: these are the documented fields of the events.
    if (method === 'Fetch.requestPaused') this.#onPaused(params as unknown as Paused)
    if (method === 'Network.responseReceivedExtraInfo') this.#takeCookies(params as unknown as ExtraInfo)
  }

  /** Reads the body at the pace of the caller. */
  async *body(): AsyncGenerator<Buffer> {
    const { stream: handle } = await this.#call<{ stream: string }>('Fetch.takeResponseBodyAsStream', {
      requestId: this.#held,
    })
    let length = 0
    for (;;) {
      const { data, base64Encoded, eof } = await this.#call<Piece>(
        'IO.read',
        { handle, size: PIECE_BYTES },
        NAVIGATION_MS,
      ).catch((error: unknown) => {
        throw requestFailed(`it was cut off (${(error as Error).message})`)
      })
      const piece = Buffer.from(data, base64Encoded ? 'base64' : 'utf8')
      length += piece.length
      if (piece.length > 0) yield piece
      if (eof) break
    }
    this.#dispatch('IO.close', { handle })
    // Chromium reports the end of a truncated body like any other end.
    if (this.#length !== undefined && length !== this.#length) {
      throw requestFailed('it was cut off', 'ERR_CONTENT_LENGTH_MISMATCH')
    }
  }

  /** Call it when the body was read or there is none. Then the target can be used again. */
  async finish(): Promise<void> {
    this.#dispatch('Fetch.failRequest', { requestId: this.#held, errorReason: 'Aborted' })
    await this.#navigated
  }

  async #navigate(): Promise<void> {
    try {
      const { url } = this.#wanted
      const { errorText } = await this.#call<{ errorText?: string }>('Page.navigate', { url }, NAVIGATION_MS)
      const name = errorText?.replace(/^net::/, '')
      this.#head.reject(requestFailed(`the browser says ${name ?? 'nothing'}`, name))
    } catch (error) {
      this.#head.reject(error)
    }
  }

  #onPaused(paused: Paused): void {
    const {
      requestId,
      resourceType,
      responseStatusCode: status,
      responseErrorReason,
      responseHeaders,
    } = paused
    if (resourceType !== 'Document') {
      return this.#dispatch('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
    }
    if (responseErrorReason !== undefined) return this.#dispatch('Fetch.continueRequest', { requestId })
    if (status === undefined) return this.#sendOn(paused)
    const headers = (responseHeaders ?? []).map(({ name, value }): Header => [name.toLowerCase(), value])
    if (REDIRECTS.has(status) && headers.some(([name]) => name === 'location')) {
      this.#isRedirected = true
      return this.#dispatch('Fetch.continueRequest', { requestId })
    }
    this.#held = requestId
    const hasBody = this.#wanted.method !== 'HEAD' && status !== 204 && status !== 304
    this.#length = hasBody ? bodyLength(headers) : undefined
    void this.#cookiesOf(status).then((cookies) =>
      this.#head.resolve({ status, headers: [...headers, ...cookies] }),
    )
  }

  #takeCookies({ statusCode: status, headers }: ExtraInfo): void {
    const texts = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'set-cookie')
    this.#cookies = { status, values: texts.flatMap(([, text]) => text.split('\n')) }
    this.#onCookies?.()
  }

  async #cookiesOf(status: number): Promise<Header[]> {
    if (this.#cookies?.status !== status) {
      const told = new Promise<void>((resolve) => (this.#onCookies = resolve))
      await Promise.race([told, pause(COOKIES_MS)])
    }
    const { values = [] } = this.#cookies?.status === status ? this.#cookies : {}
    return values.map((value): Header => ['set-cookie', value])
  }

  /** Replaces method, headers and body of the first request. Chromium decides about those of redirects. */
  #sendOn({ requestId, request }: Paused): void {
    const { url, method, body, headers } = this.#wanted
    const isSameOrigin = new URL(request.url).origin === new URL(url).origin
    const merged = mergedHeaders(request.headers, headers, { isSameOrigin })
    this.#dispatch('Fetch.continueRequest', {
      requestId,
      headers: merged.map(([name, value]) => ({ name, value })),
      ...(!this.#isRedirected && { method, ...(body && { postData: body.toString('base64') }) }),
    })
  }

  #call<T>(method: string, params: object, answerMs?: number): Promise<T> {
    return this.#target.cdp.call<T>(method, params, this.#target.sessionId, answerMs)
  }

  #dispatch(method: string, params: object): void {
    this.#target.cdp.dispatch(method, params, this.#target.sessionId)
  }
}

interface ExtraInfo {
  readonly statusCode: number
  /** Several headers of one name are lines of one text. */
  readonly headers: Readonly<Record<string, string>>
}

interface Piece {
  readonly data: string
  readonly base64Encoded?: boolean
  readonly eof: boolean
}
