// Puts the session of another browser into this one: cookies, and local storage of origins. A tab of its own opens each
// origin, and every request of the tab is answered here with an empty page, so that no script of the website runs and
// nothing reaches the network.
import type { StorageOrder, StorageResult, StoredCookie } from '@berth/contracts/page-snapshot'
import { CdpConnection, type CdpEvent } from '../cdp/cdp-connection.ts'
import type { Chromium } from '../chromium/chromium.ts'
import { BrowserGone } from './gone.ts'
import { isOfHosts } from './hosts.ts'

const CHROMIUM_MS = 15_000
const NAVIGATE_MS = 10_000
const EMPTY_PAGE = Buffer.from('<!doctype html><title>.</title>').toString('base64')
/** Text of one call into the page. */
const MAX_CHUNK_LENGTH = 1_000_000

interface Cookie {
  readonly name: string
  readonly domain: string
  readonly path: string
  readonly partitionKey?: object
}

export async function replaceStorage(
  chromium: Chromium,
  order: StorageOrder,
  signal: AbortSignal,
): Promise<StorageResult> {
  const { devtools_path: path, browser } = await chromium.whenOpen(CHROMIUM_MS)
  if (path === null) throw new BrowserGone(`Chromium is ${browser}, not ready`)
  let answer: ((event: CdpEvent) => void) | undefined
  using cdp = await CdpConnection.open(chromium.port, path, (event) => answer?.(event))
  signal.throwIfAborted()
  const { targetId } = await cdp.call<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
    background: true,
  })
  try {
    const attached = { targetId, flatten: true }
    const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', attached)
    answer = ({ method, params, sessionId: of }) => {
      if (method === 'Fetch.requestPaused' && of === sessionId) fulfill(cdp, sessionId, params)
    }
    const tab = new StorageTab(cdp, sessionId)
    await tab.clear(order)
    let refused = await tab.setCookies(order.cookies)
    for (const { origin, items } of order.local) {
      signal.throwIfAborted()
      refused += await tab.setLocal(origin, items)
    }
    return { refused }
  } finally {
    await cdp.call('Target.closeTarget', { targetId }).catch(() => {})
  }
}

function fulfill(cdp: CdpConnection, sessionId: string, { requestId }: Record<string, unknown>): void {
  const responseHeaders = [{ name: 'content-type', value: 'text/html' }]
  cdp.dispatch(
    'Fetch.fulfillRequest',
    { requestId, responseCode: 200, responseHeaders, body: EMPTY_PAGE },
    sessionId,
  )
}

class StorageTab {
  readonly #cdp: CdpConnection
  readonly #sessionId: string

  constructor(cdp: CdpConnection, sessionId: string) {
    this.#cdp = cdp
    this.#sessionId = sessionId
  }

  async clear({ hosts, origins }: StorageOrder): Promise<void> {
    const { cookies } = await this.#cdp.call<{ cookies: Cookie[] }>('Storage.getCookies')
    const names = hosts.map((host) => host.replace(/:\d+$/, ''))
    for (const { name, domain, path, partitionKey } of cookies) {
      const host = domain.replace(/^\./, '')
      if (!isOfHosts(`https://${host}`, names)) continue
      await this.#call('Network.deleteCookies', { name, domain, path, ...(partitionKey && { partitionKey }) })
    }
    for (const origin of origins) {
      await this.#call('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    }
  }

  /** One cookie that Chromium does not take refuses all of them. Then each is set by itself. */
  async setCookies(given: readonly StoredCookie[]): Promise<number> {
    const cookies = given.map(toCookie)
    if (cookies.length === 0) return 0
    try {
      await this.#cdp.call('Storage.setCookies', { cookies })
      return 0
    } catch {
      const set = cookies.map((cookie) => this.#cdp.call('Storage.setCookies', { cookies: [cookie] }))
      const results = await Promise.allSettled(set)
      return results.filter(({ status }) => status === 'rejected').length
    }
  }

  /** Resolves with how many items were refused, for example because the origin has no room. */
  async setLocal(
    origin: string,
    items: readonly { readonly name: string; readonly value: string }[],
  ): Promise<number> {
    await this.#call('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
    const { errorText } = await this.#cdp.call<{ errorText?: string }>(
      'Page.navigate',
      { url: `${origin}/` },
      this.#sessionId,
      NAVIGATE_MS,
    )
    if (errorText) return items.length
    let refused = 0
    for (const chunk of chunksOf(items)) {
      const expression = `(() => {
        if (location.origin !== ${JSON.stringify(origin)}) return ${chunk.length}
        let refused = 0
        for (const [name, value] of ${JSON.stringify(chunk)}) {
          try { localStorage.setItem(name, value) } catch { refused++ }
        }
        return refused
      })()`
      const { result } = await this.#call<{ result: { value?: unknown } }>('Runtime.evaluate', {
        expression,
        returnByValue: true,
      })
      refused += typeof result.value === 'number' ? result.value : chunk.length
    }
    return refused
  }

  #call<T>(method: string, params: object): Promise<T> {
    return this.#cdp.call<T>(method, params, this.#sessionId)
  }
}

/** A cookie for one host has an address and no domain. */
function toCookie(cookie: StoredCookie): object {
  const { name, value, host, path, is_secure: secure, is_http_only: httpOnly, same_site, expires } = cookie
  return {
    name,
    value,
    path,
    secure,
    httpOnly,
    // Whoever set it there: Chromium would otherwise bind it to the scheme and port of the address.
    sourceScheme: 'Unset',
    ...(cookie.is_host_only
      ? { url: `${secure ? 'https' : 'http'}://${host}${path}` }
      : { domain: `.${host}` }),
    ...(same_site && { sameSite: same_site }),
    ...(expires !== undefined && { expires }),
  }
}

function chunksOf(items: readonly { readonly name: string; readonly value: string }[]): [string, string][][] {
  const chunks: [string, string][][] = []
  let room = 0
  for (const { name, value } of items) {
    if (room <= 0) {
      chunks.push([])
      room = MAX_CHUNK_LENGTH
    }
    chunks.at(-1)!.push([name, value])
    room -= name.length + value.length
  }
  return chunks
}
