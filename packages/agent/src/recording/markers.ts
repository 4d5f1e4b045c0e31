// Marks navigations and crashes in a recording, so that they can be found again. Chromium reports them for all targets,
// so it is not necessary to attach to pages.
import { MAX_MARKER_CHARACTERS, type RecordingMarker } from '@berth/contracts/recording'
import type { CdpConnection, CdpEvent } from '../cdp/cdp-connection.ts'
import type { Chromium } from '../chromium/chromium.ts'
import { secrets } from '../secrets/secrets.ts'
import { pause } from '@berth/kit/pause'

const RETRY_MS = 1_000
/** Markers per second. Pages may navigate more often; the rest is left out. */
const MAX_PER_SECOND = 5
const MAX_PAGES = 500

interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly url: string
}

export class Markers {
  readonly #chromium: Chromium
  readonly #onMarker: (marker: RecordingMarker) => void
  readonly #closing = new AbortController()
  readonly #addresses = new Map<string, string>()
  #cdp: CdpConnection | undefined
  #second = 0
  #toldInSecond = 0
  #isFirstConnection = true

  constructor(chromium: Chromium, onMarker: (marker: RecordingMarker) => void) {
    this.#chromium = chromium
    this.#onMarker = onMarker
    void this.#listen()
  }

  close(): void {
    this.#closing.abort()
    this.#cdp?.close()
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        const cdp = await this.#chromium.openCdp((event) => this.#take(event))
        this.#cdp = cdp
        if (signal.aborted) return cdp.close()
        await cdp.call('Target.setDiscoverTargets', { discover: true })
        if (!this.#isFirstConnection) this.#tell('crash', 'The browser was started again')
        this.#isFirstConnection = false
        await cdp.closed
        this.#addresses.clear()
      } catch {
        await pause(RETRY_MS, signal)
      }
    }
  }

  #take({ method, params }: CdpEvent): void {
    if (method === 'Target.targetCrashed') {
      const address = this.#addresses.get(params['targetId'] as string)
      if (address !== undefined) this.#tell('crash', `Crashed: ${address}`)
      return
    }
    if (method === 'Target.targetDestroyed') {
      this.#addresses.delete(params['targetId'] as string)
      return
    }
    if (method !== 'Target.targetCreated' && method !== 'Target.targetInfoChanged') return
    const { targetId, type, url } = params['targetInfo'] as TargetInfo
    if (type !== 'page') return
    const address = shortened(url)
    const before = this.#addresses.get(targetId)
    if (before === address || (before === undefined && this.#addresses.size >= MAX_PAGES)) return
    this.#addresses.set(targetId, address)
    if (address !== '') this.#tell('navigation', address)
  }

  #tell(kind: RecordingMarker['kind'], text: string): void {
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#second) this.#toldInSecond = 0
    this.#second = second
    if (++this.#toldInSecond > MAX_PER_SECOND) return
    this.#onMarker({ kind, text: text.slice(0, MAX_MARKER_CHARACTERS) })
  }
}

/**
 * The address without query and fragment, which may contain secrets. Once a secret was typed, a page may put it anywhere,
 * so only the host is kept. Empty if the text is not an address.
 */
function shortened(text: string): string {
  const url = URL.parse(text)
  if (!url) return ''
  if (secrets.isTyped) return url.host
  if (url.protocol === 'http:' || url.protocol === 'https:') return `${url.host}${url.pathname}`
  return url.protocol === 'data:' || url.protocol === 'blob:'
    ? url.protocol
    : `${url.protocol}${url.pathname}`
}
