// Requests to a provider's server. The egress policy checks the connection. Redirects are not followed, because
// they would take the token along.
import { request, type IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { readBounded } from '@berth/kit/read-bounded'
import { EgressRefusal } from '../../../instances/egress/refusal.ts'
import { readConnectTarget, type Target } from '../../../instances/egress/target.ts'
import type { Upstream } from '../../../instances/egress/upstream.ts'
import { SourceFailure } from './source.ts'

const USUAL_ANSWER_MS = 15_000
/** Enough for thousands of items with their URLs. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

export interface SourceServerOptions {
  readonly address: URL
  readonly headers: Readonly<Record<string, string>>
  readonly upstream: Upstream
  /** Time limit for one answer. */
  readonly answerMs?: number
}

/** The options of adapters, which know how to send the token. */
export type ServerSourceOptions = Omit<SourceServerOptions, 'headers'> & { readonly token: string }

export interface SourceAnswer {
  readonly status: number
  /** Undefined when the answer is not JSON. */
  readonly json: unknown
}

export class SourceServer {
  readonly #options: SourceServerOptions

  constructor(options: SourceServerOptions) {
    this.#options = options
  }

  /** `path` is relative to the server's URL. Undefined for 404. */
  async get(path: string, caller: AbortSignal): Promise<unknown> {
    const { status, json } = await this.ask(path, caller)
    if (status === 404) return undefined
    if (status === 401 || status === 403) throw new SourceFailure(`it refuses the token (${status})`)
    if (status >= 300 && status < 400) {
      throw new SourceFailure(`it answers with a redirect (${status}); give the address that it leads to`)
    }
    if (status !== 200) throw new SourceFailure(`it answers ${status}`)
    if (json === undefined) throw new SourceFailure('its answer is not JSON; check the address')
    return json
  }

  async ask(path: string, caller: AbortSignal): Promise<SourceAnswer> {
    const { answerMs = USUAL_ANSWER_MS } = this.#options
    const late = AbortSignal.timeout(answerMs)
    const signal = AbortSignal.any([caller, late])
    try {
      return await this.#exchange(path, signal)
    } catch (error) {
      caller.throwIfAborted()
      if (error instanceof SourceFailure) throw error
      if (late.aborted) throw new SourceFailure(`it took longer than ${answerMs / 1000} s to answer`)
      // Callers do not see the cause, and no message contains what the server sent.
      throw new SourceFailure(
        error instanceof EgressRefusal ? error.message : `the connection failed${codeOf(error)}`,
        {
          cause: error,
        },
      )
    }
  }

  async #exchange(path: string, signal: AbortSignal): Promise<SourceAnswer> {
    const { address, upstream } = this.#options
    const target = targetOf(address)
    const plain = await upstream.connect(target, signal)
    plain.on('error', () => {})
    const cut = () => plain.destroy()
    signal.addEventListener('abort', cut)
    try {
      signal.throwIfAborted()
      const answer = await this.#send(plain, target, path)
      return { status: answer.statusCode ?? 0, json: parse(await readText(answer)) }
    } finally {
      signal.removeEventListener('abort', cut)
      cut()
    }
  }

  #send(plain: Duplex, { host }: Target, path: string): Promise<IncomingMessage> {
    const { address, headers } = this.#options
    const isSecure = address.protocol === 'https:'
    return new Promise((resolve, reject) => {
      const sent = request({
        method: 'GET',
        path: address.pathname.replace(/\/$/, '') + path,
        headers: {
          host: address.host,
          accept: 'application/json',
          'user-agent': 'Berth',
          connection: 'close',
          ...headers,
        },
        createConnection: () => (isSecure ? overTls(plain, host) : plain),
        maxHeaderSize: 16 * 1024,
      })
      sent.once('response', resolve)
      sent.on('error', reject)
      sent.once('close', () => reject(new Error('closed without an answer')))
      sent.end()
    })
  }
}

function overTls(socket: Duplex, host: string): Duplex {
  const secured = connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) })
  // The request also sees the error while it lasts.
  secured.on('error', () => {})
  return secured
}

export function targetOf(address: URL): Target {
  return readConnectTarget(
    `${address.hostname}:${address.port || (address.protocol === 'https:' ? 443 : 80)}`,
  )
}

async function readText(answer: IncomingMessage): Promise<string> {
  const bytes = await readBounded(answer, {
    maxBytes: MAX_ANSWER_BYTES,
    tooLarge: () => new SourceFailure(`its answer is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`),
  })
  if (!answer.complete) throw new Error('cut off')
  return bytes.toString()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A code such as ECONNREFUSED or CERT_HAS_EXPIRED; nothing else may be reported. */
function codeOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : ''
}
