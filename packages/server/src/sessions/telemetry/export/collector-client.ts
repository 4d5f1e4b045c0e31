// Sends one request to a collector. Each has its own connection to an address that is looked up and judged now. Redirects
// are not followed, because they would take the headers along.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readBounded } from '@berth/kit/read-bounded'
import { EgressRefusal } from '../../../instances/egress/refusal.ts'
import type { Upstream } from '../../../instances/egress/upstream.ts'
import { exchange, failureCode } from '../../../platform/outgoing/exchange.ts'
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
      return verdictOn(await this.#post(new URL(endpoint), { headers, body: packed }, signal))
    } catch (error) {
      closing.throwIfAborted()
      if (late.aborted) {
        return { kind: 'busy', reason: `The collector took longer than ${DELIVERY_MS / 1000} s` }
      }
      if (error instanceof EgressRefusal) {
        return { kind: error.code === 'egress_denied' ? 'closed' : 'busy', reason: error.message }
      }
      return { kind: 'busy', reason: `The connection to the collector failed${failureCode(error)}` }
    }
  }

  async #post(
    url: URL,
    { headers, body }: { headers: Headers; body: Buffer },
    signal: AbortSignal,
  ): Promise<CollectorAnswer> {
    const connection = await this.#options.upstream.connect(targetOf(url), signal)
    const sent = {
      path: logsPathOf(url),
      headers: {
        'User-Agent': `Berth/${this.#options.version}`,
        Accept: 'application/x-protobuf',
        ...headers,
        'Content-Type': 'application/x-protobuf',
        'Content-Encoding': 'gzip',
      },
      body,
    }
    return exchange(connection, url, sent, {
      signal,
      read: async (answer) => {
        const text = await readBounded(answer, {
          maxBytes: MAX_ANSWER_BYTES,
          tooLarge: () => new Error('too large'),
        }).catch(() => Buffer.alloc(0))
        const { 'retry-after': retryAfter, 'content-type': contentType } = answer.headers
        return { status: answer.statusCode ?? 0, retryAfter, contentType, body: text }
      },
    })
  }
}
