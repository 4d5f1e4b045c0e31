// Downloads extensions from the Chrome Web Store, from the URL that Chromium uses. Requests obey the egress policy like
// those of pages, including redirects.
import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { MAX_EXTENSION_BYTES } from '@berth/contracts/extension-limits'
import { EgressRefusal } from '../../instances/egress/refusal.ts'
import { readConnectTarget } from '../../instances/egress/target.ts'
import type { Upstream } from '../../instances/egress/upstream.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import { SpoolTooLarge, type Spool, type SpooledFile } from './spool.ts'

const MAX_REDIRECTS = 5
const ALL_OF_IT_MS = 60_000
/** The Chromium version that the store sees; it sends nothing to very old ones. */
const PRODUCT_VERSION = '150.0.0.0'
/** Hosts of the store's pages; they are only parsed, never requested. */
const PAGES = new Set(['chromewebstore.google.com', 'chrome.google.com'])
const ID = /^[a-p]{32}$/

export type StoreSystem = 'win' | 'mac' | 'linux'

export interface Fetched extends AsyncDisposable {
  readonly id: string
  readonly file: SpooledFile
}

export interface FetchOptions {
  /** URL of the extension's page. */
  readonly url: string
  readonly os: StoreSystem
  readonly spool: Spool
  readonly signal: AbortSignal
}

export class ChromeStore {
  readonly #address: URL
  readonly #upstream: Upstream

  constructor({ address, upstream }: { address: URL; upstream: Upstream }) {
    this.#address = address
    this.#upstream = upstream
  }

  /** Returns the crx as the store sends it. */
  async fetch({ url, os, spool, signal: gone }: FetchOptions): Promise<Fetched> {
    const id = idIn(url)
    const late = AbortSignal.timeout(ALL_OF_IT_MS)
    const signal = AbortSignal.any([gone, late])
    try {
      const answer = await this.#follow(this.#addressOf(id, os), signal)
      if (answer.statusCode === 204 || answer.statusCode === 404) {
        answer.destroy()
        throw new AppError('not_found', `Cannot find extension "${id}" in the Chrome Web Store`)
      }
      if (answer.statusCode !== 200) {
        answer.destroy()
        throw unreachable(`it answered ${answer.statusCode}`)
      }
      const file = await spool.fill(answer as AsyncIterable<Buffer>, { maxBytes: MAX_EXTENSION_BYTES })
      return { id, file, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() }
    } catch (error) {
      if (error instanceof AppError || gone.aborted) throw error
      if (error instanceof SpoolTooLarge) {
        throw unreachable(`the extension is larger than ${MAX_EXTENSION_BYTES / 1024 / 1024} MiB`)
      }
      if (late.aborted) throw unreachable(`it took longer than ${ALL_OF_IT_MS / 1000} s`)
      throw unreachable(error instanceof EgressRefusal ? error.message : 'the connection failed', error)
    }
  }

  #addressOf(id: string, os: StoreSystem): URL {
    const url = new URL('/service/update2/crx', this.#address)
    url.search = new URLSearchParams({
      response: 'redirect',
      os,
      arch: 'x64',
      prod: 'chromiumcrx',
      prodversion: PRODUCT_VERSION,
      acceptformat: 'crx3',
      x: `id=${id}&installsource=ondemand&uc`,
    }).toString()
    return url
  }

  async #follow(first: URL, signal: AbortSignal): Promise<IncomingMessage> {
    let url = first
    for (let count = 0; count <= MAX_REDIRECTS; count++) {
      const answer = await this.#ask(url, signal)
      const { location } = answer.headers
      const isRedirect = [301, 302, 303, 307, 308].includes(answer.statusCode!)
      if (!isRedirect || location === undefined) return answer
      answer.destroy()
      const next = URL.parse(location, url.href)
      // A redirect must be as secure as the original URL.
      const isAllowed =
        next?.protocol === 'https:' || (next?.protocol === 'http:' && url.protocol === 'http:')
      if (!next || !isAllowed) throw unreachable('it redirects to something other than a web address')
      url = next
    }
    throw unreachable(`it leads to more than ${MAX_REDIRECTS} other addresses`)
  }

  async #ask(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const isSecure = url.protocol === 'https:'
    const target = readConnectTarget(`${url.hostname}:${url.port || (isSecure ? 443 : 80)}`)
    // SAFETY: the direct upstream always returns a Socket.
    const plain = (await this.#upstream.connect(target, signal)) as Socket
    const socket = isSecure ? connectTls({ socket: plain, servername: url.hostname }) : plain
    const sent = request({
      method: 'GET',
      path: url.pathname + url.search,
      headers: { host: url.host, accept: '*/*', connection: 'close' },
      createConnection: () => socket,
      signal,
    })
    return new Promise((resolve, reject) => {
      sent.once('response', (answer) => {
        answer.once('close', () => socket.destroy())
        resolve(answer)
      })
      sent.once('error', (error) => {
        socket.destroy()
        reject(error)
      })
      sent.end()
    })
  }
}

/** Accepts the URL of the extension's page, or the id alone. */
function idIn(text: string): string {
  if (ID.test(text)) return text
  const url = URL.parse(text)
  const isPage = url?.protocol === 'https:' && PAGES.has(url.hostname)
  const id = isPage ? url.pathname.split('/').find((part) => ID.test(part)) : undefined
  if (id === undefined) {
    throw invalidInput(
      'url',
      'must be the page of an extension, such as https://chromewebstore.google.com/detail/name/<id of 32 letters>',
    )
  }
  return id
}

function unreachable(reason: string, cause?: unknown): AppError {
  return new AppError(
    'store_unreachable',
    `Cannot fetch the extension from the Chrome Web Store: ${reason}; download it elsewhere and upload it`,
    { cause },
  )
}
