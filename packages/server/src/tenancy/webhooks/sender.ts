// Sends one event to one receiver, which may be slow, broken or hostile. Each request has its own connection to an address
// that is looked up and judged now. Redirects are not followed, and only the start of the answer is read.
import type { IncomingMessage } from 'node:http'
import { MAX_ANSWER_BYTES } from '@berth/contracts/webhooks'
import { exchange, failureCode } from '../../platform/outgoing/exchange.ts'
import { readRetryAfter } from './retry.ts'
import { signatureHeaders } from './secret.ts'
import { Unreachable, type Attempt, type Message, type Secrets, type WebhookNetwork } from './types.ts'

/** The look-up, the connection, the request and the head of the answer together. */
const SEND_MS = 15_000
/** Once the status is known, the rest is only for people to read. */
const READ_MS = 2_000

export interface WebhookSenderOptions {
  readonly network: WebhookNetwork
  readonly version: string
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly retryAfter: string | undefined
}

export class WebhookSender {
  readonly #options: WebhookSenderOptions

  constructor(options: WebhookSenderOptions) {
    this.#options = options
  }

  /** Rejects only with the signal's reason. */
  async send(
    { url, secrets, message }: { url: string; secrets: Secrets; message: Message },
    closing: AbortSignal,
  ): Promise<Attempt> {
    const startedAt = new Date()
    const began = performance.now()
    const outcome = await this.#attempt(new URL(url), secrets, message, closing)
    return { startedAt, durationMs: Math.round(performance.now() - began), ...outcome }
  }

  async #attempt(url: URL, secrets: Secrets, message: Message, closing: AbortSignal): Promise<Outcome> {
    const late = AbortSignal.timeout(SEND_MS)
    const signal = AbortSignal.any([closing, late])
    try {
      return outcomeOf(await this.#post(url, secrets, message, signal))
    } catch (error) {
      closing.throwIfAborted()
      return { status: null, answer: null, error: reasonOf(error, { isLate: late.aborted }) }
    }
  }

  async #post(url: URL, secrets: Secrets, { id, ...event }: Message, signal: AbortSignal): Promise<Answer> {
    const connection = await this.#options.network.connect(url, signal)
    const body = Buffer.from(JSON.stringify(event))
    const sent = {
      path: url.pathname + url.search,
      headers: {
        'User-Agent': `Berth/${this.#options.version}`,
        'Content-Type': 'application/json',
        ...signatureHeaders(secrets, { id, body }),
      },
      body,
    }
    return exchange(connection, url, sent, { signal, read: readAnswer })
  }
}

type Outcome = Omit<Attempt, 'startedAt' | 'durationMs'>

function outcomeOf({ status, text: answer, retryAfter }: Answer): Outcome {
  if (status >= 200 && status < 300) return { status, answer, error: null }
  if (status >= 300 && status < 400) {
    const error = `The receiver answered with a redirect (${status}), which is not followed; set the address that it leads to`
    return { status, answer, error }
  }
  if (status === 410) {
    return { status, answer, error: 'The receiver answered 410: it wants no more events', isGone: true }
  }
  const retryAfterMs = readRetryAfter(retryAfter)
  return {
    status,
    answer,
    error: `The receiver answered ${status}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

function reasonOf(error: unknown, { isLate }: { isLate: boolean }): string {
  if (isLate) return `The receiver did not answer within ${SEND_MS / 1000} s`
  if (error instanceof Unreachable) return error.message
  return `The connection to the receiver failed${failureCode(error)}`
}

async function readAnswer(answer: IncomingMessage): Promise<Answer> {
  const timer = setTimeout(() => answer.destroy(), READ_MS)
  try {
    const text = toText(await readStart(answer))
    return { status: answer.statusCode ?? 0, text, retryAfter: answer.headers['retry-after'] }
  } finally {
    clearTimeout(timer)
  }
}

/** What arrives before the limit, the end or a break. */
async function readStart(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= MAX_ANSWER_BYTES) break
    }
  } catch {
    // The status has arrived, and only that counts.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES)
}

/** The database stores no NUL, and nobody reads the other control characters. */
const toText = (bytes: Buffer): string => bytes.toString().replaceAll(/[^\P{Cc}\n\t]/gu, '')
