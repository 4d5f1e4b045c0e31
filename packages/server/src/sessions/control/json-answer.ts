// JSON answers of agents. An instance may send anything: a small answer is parsed and filtered by the contract; a large
// one is passed on at the pace of its reader, and only its outline is looked at, in pieces. Neither occupies the event
// loop or the memory that other sessions need.
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { JsonOutline } from '@berth/codecs/json/outline'
import { pause } from '@berth/kit/pause'
import { RawJson } from '../../http/raw-json.ts'
import type { Share } from '../../instances/agent/answer-budget.ts'
import { MAX_WAIT_MS } from '../../instances/agent/answers.ts'
import { AgentError } from '../../instances/agent/errors.ts'

/** Parsing this takes a few milliseconds at worst. */
const SMALL_BYTES = 64 * 1024
/** What is in flight of a large one: buffers of two connections and of the streams between them. */
const IN_FLIGHT_BYTES = 256 * 1024
/** So all large answers together pass at 60 MB/s at most. */
const PAUSE_MS = 1
const MAX_JSON_BYTES = 32 * 1024 * 1024
/** Recursive readers of clients fail on deeper ones. */
const OUTLINE = { maxDepth: 10_000, maxValues: MAX_JSON_BYTES }
export interface JsonAnswerOptions {
  /** Without the session's id. */
  readonly path: string
  readonly share: Share
  readonly signal: AbortSignal
  /** All waiting for the rest of the answer, together. Waiting for its reader does not count. */
  readonly maxWaitMs?: number
}

/** The parsed value, or a RawJson for a large one. The share is needed until the answer has closed. */
export async function readJsonAnswer(
  answer: IncomingMessage,
  { path, share, signal, maxWaitMs = MAX_WAIT_MS }: JsonAnswerOptions,
): Promise<unknown> {
  const pieces = new PatientReader(answer, { path, maxWaitMs })
  const first: Buffer[] = []
  let bytes = 0
  for (;;) {
    const piece = await pieces.next()
    if (!piece) return JSON.parse(Buffer.concat(first).toString()) as unknown
    bytes += piece.length
    first.push(piece)
    if (bytes > SMALL_BYTES) break
  }
  const late = AbortSignal.timeout(maxWaitMs)
  await share.take(IN_FLIGHT_BYTES, AbortSignal.any([signal, late])).catch((error: unknown) => {
    answer.destroy()
    throw new AgentError(`Cannot take the agent's answer to ${path}: ${(error as Error).message}`, {
      cause: error,
    })
  })
  const body = Readable.from(checked(first, pieces), { objectMode: false })
  body.once('close', () => answer.destroy())
  return new RawJson(body)
}

async function* checked(first: readonly Buffer[], rest: PatientReader): AsyncGenerator<Buffer> {
  const outline = new JsonOutline(OUTLINE)
  let bytes = 0
  const look = (piece: Buffer) => {
    bytes += piece.length
    if (bytes > MAX_JSON_BYTES) throw new AgentError(`An answer has more than ${MAX_JSON_BYTES} bytes`)
    outline.take(piece)
  }
  for (const piece of first) {
    look(piece)
    yield piece
  }
  for (let piece = await rest.next(); piece; piece = await rest.next()) {
    await nextTurn()
    look(piece)
    yield piece
  }
  outline.end()
}

let lastTurn = Promise.resolve()

/** One piece of one large answer at a time, for all sessions; in the pause after it, others are served. */
function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => pause(PAUSE_MS))
  return lastTurn
}

/** Reads piece by piece, and gives up when it has waited too long in total. */
class PatientReader {
  readonly #answer: IncomingMessage
  readonly #iterator: AsyncIterator<Buffer>
  readonly #path: string
  #leftMs: number

  constructor(answer: IncomingMessage, { path, maxWaitMs }: { path: string; maxWaitMs: number }) {
    this.#answer = answer
    this.#iterator = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    this.#path = path
    this.#leftMs = maxWaitMs
  }

  /** Undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    const startedAt = performance.now()
    const timer = setTimeout(
      () => this.#answer.destroy(new Error('the rest of it did not come in time')),
      Math.max(0, this.#leftMs),
    )
    try {
      const { value, done } = await this.#iterator.next()
      return done ? undefined : value
    } catch (error) {
      const { message } = error as Error
      throw new AgentError(`Cannot read the agent's answer to ${this.#path}: ${message}`, { cause: error })
    } finally {
      clearTimeout(timer)
      this.#leftMs -= performance.now() - startedAt
    }
  }
}
