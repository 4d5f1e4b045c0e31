// One request and its answer, as a navigation of a target that nobody sees: so Chromium adds its cookies, its
// user agent and its way out, keeps the cookies it is given, and follows redirects wherever they lead. The
// navigation is held where the request leaves, to make it the one that was asked for, and again where the
// answer arrives, from where the body is read at the pace of the caller. It is never let go on: no page
// comes of it, nothing of the answer runs.
import { pause } from '@berth/kit/pause'
import type { CdpEvent } from '../../cdp/cdp-connection.ts'
import { requestFailed } from './failure.ts'
import { bodyLength, mergedHeaders, type Header } from './headers.ts'
import type { Target } from './targets.ts'

/** Longer than any limit of ours: those end the exchange, and this only what is left of it. */
const NAVIGATION_MS = 120_000
const PIECE_BYTES = 512 * 1024
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Cookies are told apart from the other headers, in the same moment; those of a cached answer never. */
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
  /** As the last answer set them, be it a redirect. */
  #cookies: { readonly status: number; readonly values: readonly string[] } | undefined
  #onCookies: (() => void) | undefined
  /** Of the answer, while it is held. */
  #held: string | undefined
  /** Of the body, where it is known. */
  #length: number | undefined

  constructor(target: Target, wanted: Wanted) {
    this.#target = target
    this.#wanted = wanted
    this.#head.promise.catch(() => {})
  }

  /** Resolves when the answer has begun; rejects with the reason why there is none. */
  begin(): Promise<Head> {
    this.#navigated = this.#navigate()
    return this.#head.promise
  }

  take({ method, params }: CdpEvent): void {
    if (method === 'Fetch.authRequired') {
      // An answer that asks for a password is an answer.
      const authChallengeResponse = { response: 'CancelAuth' }
      this.#dispatch('Fetch.continueWithAuth', { requestId: params['requestId'], authChallengeResponse })
      return
    }
    // SAFETY: they are what the events are documented to have.
    if (method === 'Fetch.requestPaused') this.#onPaused(params as unknown as Paused)
    if (method === 'Network.responseReceivedExtraInfo') this.#takeCookies(params as unknown as ExtraInfo)
  }

  /** The body, read as it is asked for. */
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
    // Chromium ends a body that was cut off like any other.
    if (this.#length !== undefined && length !== this.#length) {
      throw requestFailed('it was cut off', 'ERR_CONTENT_LENGTH_MISMATCH')
    }
  }

  /** After all of the body was read, or there is none to read: the target can be used again. */
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

  /** It is made the one that was asked for; what redirects make of that is Chromium's matter. */
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
  /** Several of one name are lines of one text. */
  readonly headers: Readonly<Record<string, string>>
}

interface Piece {
  readonly data: string
  readonly base64Encoded?: boolean
  readonly eof: boolean
}
