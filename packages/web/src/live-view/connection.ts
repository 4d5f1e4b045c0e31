// The connection to the screen. Reconnects as long as that makes sense.
import RFB from '@novnc/novnc'
import { explainClosing, explainProblem, type Explanation, type Notice } from './notice.ts'

const FIRST_WAIT_MS = 400
const WAIT_TIMEOUT_MS = 10_000
const GROWTH = 1.7
/** A connection that lasted this long resets the delay. */
const GOOD_MS = 5_000
const TOO_MANY: Explanation = {
  title: 'Too many people are watching',
  text: 'The picture comes as soon as somebody leaves.',
}

export interface ConnectionOptions {
  readonly target: HTMLElement
  readonly isReadOnly: boolean
  readonly notice: Notice
  /** Before it has messages. */
  readonly onOpen: (rfb: RFB) => void
  readonly onConnect: (rfb: RFB, socket: WebSocket) => void
  readonly onDisconnect: () => void
  readonly onClipboard: (text: string) => void
}

export class Connection {
  readonly #options: ConnectionOptions
  #rfb: RFB | undefined
  #waitMs = FIRST_WAIT_MS
  #timer: ReturnType<typeof setTimeout> | undefined
  #hasShown = false

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** The current connection, if it is open. */
  get rfb(): RFB | undefined {
    return this.#rfb
  }

  open(): void {
    const { target, isReadOnly, notice } = this.#options
    const socket = new WebSocket(screenAddress())
    let closing: CloseEvent | undefined
    let openedAt = 0
    // Before noVNC sets its own handlers, because noVNC does not report close codes.
    socket.addEventListener('close', (event) => (closing = event))
    const rfb = new RFB(target, socket, { shared: true })
    this.#options.onOpen(rfb)
    rfb.viewOnly = isReadOnly
    rfb.scaleViewport = true
    rfb.background = 'transparent'
    // For moving content. The X server sends content again without losses when it has come to rest.
    rfb.qualityLevel = 3
    rfb.compressionLevel = 2
    rfb.addEventListener('connect', () => {
      this.#rfb = rfb
      openedAt = performance.now()
      this.#hasShown = true
      notice.connected()
      this.#options.onConnect(rfb, socket)
    })
    rfb.addEventListener('clipboard', (event) => {
      this.#options.onClipboard((event as CustomEvent<{ text: string }>).detail.text)
    })
    rfb.addEventListener('disconnect', () => {
      if (this.#rfb === rfb) {
        this.#rfb = undefined
        this.#options.onDisconnect()
      }
      if (openedAt > 0 && performance.now() - openedAt > GOOD_MS) this.#waitMs = FIRST_WAIT_MS
      const explanation = closing && explainClosing(closing.code)
      if (explanation) notice.ended(explanation)
      else this.#openAgain()
    })
  }

  /** Connects at once instead of after the delay. */
  retry(): void {
    clearTimeout(this.#timer)
    this.#waitMs = FIRST_WAIT_MS
    void this.#ask()
  }

  #openAgain(): void {
    const title = this.#hasShown ? 'Reconnecting' : 'Connecting'
    this.#options.notice.waiting({ title, text: '' })
    const waitMs = this.#waitMs * (0.75 + Math.random() / 2)
    this.#waitMs = Math.min(this.#waitMs * GROWTH, WAIT_TIMEOUT_MS)
    this.#timer = setTimeout(() => void this.#ask(), waitMs)
  }

  /** A refused websocket gives no reason. A request for the page itself is refused for the same reason, and says it. */
  async #ask(): Promise<void> {
    const { notice } = this.#options
    const answer = await fetch(location.href, {
      headers: { accept: 'application/json' },
      cache: 'no-store',
    }).catch(() => undefined)
    if (answer?.ok) return this.open()
    const { code = '' } = ((await answer?.json().catch(() => ({}))) ?? {}) as { code?: string }
    const explanation = explainProblem(code)
    if (explanation) return notice.ended(explanation)
    this.#openAgain()
    if (answer?.status === 429) notice.waiting(TOO_MANY)
    else if (this.#waitMs > 2_000) {
      notice.waiting(
        { title: 'The server does not answer', text: 'Trying again every few seconds.' },
        { canRetry: true },
      )
    }
  }
}

/** The address of the websocket, with the token and the parameters of the page. */
function screenAddress(): string {
  const url = new URL('/browser/live/screen', location.href)
  url.protocol = url.protocol.replace('http', 'ws')
  url.search = location.search
  return url.href
}
