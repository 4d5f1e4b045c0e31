// Sends one request to a collector. Each has its own connection to an address that is looked up and judged now. Redirects
// are not followed, because they would take the headers along.
import { request, type IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readBounded } from '@berth/kit/read-bounded'
import { EgressRefusal } from '../../../instances/egress/refusal.ts'
import type { Upstream } from '../../../instances/egress/upstream.ts'
import { verdictOn, type CollectorAnswer, type Verdict } from './answer.ts'
import { logsPathOf, targetOf } from './endpoint.ts'
import type { Headers } from './headers.ts'

/** The look-up, the connection, the request and the answer together. */
export const DELIVERY_MS = 15_000
/** An answer has a number and a message. */
const MAX_ANSWER_BYTES = 64 * 1024

const compress = promisify(gzip)

export interface Delivery {
  readonly endpoint: string
  readonly headers: Headers
  readonly body: Uint8Array
}

export interface CollectorClientOptions {
  readonly upstream: Upstream
  readonly version: string
}

export class CollectorClient {
  readonly #options: CollectorClientOptions

  constructor(options: CollectorClientOptions) {
    this.#options = options
  }

  /** Rejects only with the signal's reason. */
  async send({ endpoint, headers, body }: Delivery, closing: AbortSignal): Promise<Verdict> {
    const late = AbortSignal.timeout(DELIVERY_MS)
    const signal = AbortSignal.any([closing, late])
    try {
      const packed = await compress(body)
      return verdictOn(await this.#exchange(new URL(endpoint), { headers, body: packed }, signal))
    } catch (error) {
      closing.throwIfAborted()
      if (late.aborted) {
        return { kind: 'busy', reason: `The collector took longer than ${DELIVERY_MS / 1000} s` }
      }
      if (error instanceof EgressRefusal) {
        return { kind: error.code === 'egress_denied' ? 'closed' : 'busy', reason: error.message }
      }
      return { kind: 'busy', reason: `The connection to the collector failed${codeOf(error)}` }
    }
  }

  async #exchange(
    url: URL,
    sent: { headers: Headers; body: Buffer },
    signal: AbortSignal,
  ): Promise<CollectorAnswer> {
    const plain = await this.#options.upstream.connect(targetOf(url), signal)
    plain.on('error', () => {})
    const cut = () => plain.destroy()
    signal.addEventListener('abort', cut)
    try {
      signal.throwIfAborted()
      const answer = await this.#post(plain, url, sent)
      const body = await readBounded(answer, {
        maxBytes: MAX_ANSWER_BYTES,
        tooLarge: () => new Error('too large'),
      }).catch(() => Buffer.alloc(0))
      const { 'retry-after': retryAfter, 'content-type': contentType } = answer.headers
      return { status: answer.statusCode ?? 0, retryAfter, contentType, body }
    } finally {
      signal.removeEventListener('abort', cut)
      cut()
    }
  }

  #post(
    plain: Duplex,
    url: URL,
    { headers, body }: { headers: Headers; body: Buffer },
  ): Promise<IncomingMessage> {
    const isSecure = url.protocol === 'https:'
    return new Promise((resolve, reject) => {
      const sent = request({
        method: 'POST',
        path: logsPathOf(url),
        headers: {
          'User-Agent': `Berth/${this.#options.version}`,
          Accept: 'application/x-protobuf',
          ...headers,
          Host: url.host,
          Connection: 'close',
          'Content-Type': 'application/x-protobuf',
          'Content-Encoding': 'gzip',
          'Content-Length': body.length,
        },
        createConnection: () => (isSecure ? overTls(plain, url.hostname) : plain),
        maxHeaderSize: 16 * 1024,
      })
      sent.once('response', resolve)
      sent.on('error', reject)
      sent.once('close', () => reject(new Error('closed without an answer')))
      sent.end(body)
    })
  }
}

function overTls(socket: Duplex, hostname: string): Duplex {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  const secured = connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) })
  // The request also sees the error while it lasts.
  secured.on('error', () => {})
  return secured
}

/** A code such as ECONNREFUSED or CERT_HAS_EXPIRED; nothing else may be shown. */
function codeOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : ''
}
