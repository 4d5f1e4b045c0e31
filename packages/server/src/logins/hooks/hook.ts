// Asks a server of the user: one signed POST to an address of theirs, one JSON answer. It goes where the server's own
// requests may go, is bounded in time and size, and follows no redirect.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { readBounded } from '@berth/kit/read-bounded'
import type { EgressPolicy } from '../../instances/egress/policy.ts'
import { EgressRefusal, toRefusal } from '../../instances/egress/refusal.ts'
import { readConnectTarget, type Target } from '../../instances/egress/target.ts'
import type { Upstream } from '../../instances/egress/upstream.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import { exchange, failureCode } from '../../platform/outgoing/exchange.ts'
import { signatureHeaders } from '../../tenancy/webhooks/secret.ts'

export interface HookAddress {
  readonly url: string
  /** By Standard Webhooks, such as `whsec_…`. */
  readonly secret: string
}

export interface HookAnswer {
  readonly status: number
  /** Undefined when the answer is not JSON. */
  readonly json: unknown
}

/** The message is ours, and contains nothing of the answer. */
export class HookFailed extends Error {
  override readonly name = 'HookFailed'
}

export interface HooksOptions {
  readonly policy: EgressPolicy
  readonly upstream: Upstream
}

export class Hooks {
  readonly #options: HooksOptions

  constructor(options: HooksOptions) {
    this.#options = options
  }

  /** Throws invalid input that names the field. Names are judged again, by their addresses, at every request. */
  readUrl(field: string, text: string): string {
    const url = URL.parse(text)
    if (!url || !/^https?:$/.test(url.protocol)) throw invalidInput(field, 'must be an http or https URL')
    if (url.username || url.password || url.hash) {
      throw invalidInput(field, 'must have no user name, password or fragment; requests are signed instead')
    }
    const { policy } = this.#options
    try {
      const target = targetOf(url)
      const verdict = policy.judgeTarget(target)
      if (!verdict.allowed) throw invalidInput(field, `cannot be reached: ${verdict.reason}`)
      if (url.protocol === 'http:' && policy.isOpenToAll(target)) {
        throw invalidInput(
          field,
          'must be https, or codes could be read on their way; http is for servers in a private network, listed as host:port in BERTH_EGRESS_ALLOW',
        )
      }
    } catch (error) {
      if (error instanceof EgressRefusal) throw invalidInput(field, 'must have a valid host')
      throw error
    }
    return url.href
  }

  /** Rejects with HookFailed or with the signal's reason. */
  async ask(
    { url: address, secret }: HookAddress,
    message: object,
    { timeoutMs, maxBytes, signal: caller }: { timeoutMs: number; maxBytes: number; signal: AbortSignal },
  ): Promise<HookAnswer> {
    const url = new URL(address)
    const late = AbortSignal.timeout(timeoutMs)
    const signal = AbortSignal.any([caller, late])
    const body = Buffer.from(JSON.stringify(message))
    const sent = {
      path: url.pathname + url.search,
      headers: {
        'User-Agent': 'Berth',
        Accept: 'application/json',
        'Content-Type': 'application/json',
        ...signatureHeaders({ current: secret, old: undefined }, { id: randomUUID(), body }),
      },
      body,
    }
    try {
      const connection = await this.#connect(url, signal)
      return await exchange(connection, url, sent, {
        signal,
        read: (answer) => readAnswer(answer, maxBytes),
      })
    } catch (error) {
      caller.throwIfAborted()
      if (error instanceof HookFailed) throw error
      if (late.aborted) {
        throw new HookFailed(`${url.host} did not answer within ${Math.round(timeoutMs / 1_000)} s`)
      }
      throw new HookFailed(`the connection to ${url.host} failed${failureCode(error)}`, { cause: error })
    }
  }

  async #connect(url: URL, signal: AbortSignal) {
    try {
      return await this.#options.upstream.connect(targetOf(url), signal)
    } catch (error) {
      signal.throwIfAborted()
      throw new HookFailed(toRefusal(error, url.hostname).message, { cause: error })
    }
  }
}

async function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<HookAnswer> {
  const status = answer.statusCode ?? 0
  if (status >= 300 && status < 400) {
    throw new HookFailed(`it answers with a redirect (${status}); give the address that it leads to`)
  }
  const bytes = await readBounded(answer, {
    maxBytes,
    tooLarge: () => new HookFailed(`its answer is larger than ${maxBytes} bytes`),
  })
  try {
    return { status, json: JSON.parse(bytes.toString()) as unknown }
  } catch {
    return { status, json: undefined }
  }
}

function targetOf(url: URL): Target {
  return readConnectTarget(`${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`)
}
