// What an agent sends as it happens becomes server-sent events. Framing is ours, so that nothing from inside
// an instance can pass for an event that it is not.
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Operation } from '@berth/contracts/operation'

const MAX_LINE_LENGTH = 1024 * 1024
/** So that proxies do not cut, and a client that is gone is noticed. */
const HEARTBEAT_MS = 15_000
const NEWLINE = 0x0a

// Formats are not looked at: they are for who reads the contract.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, validateFormats: false })
const checks = new Map<string, ValidateFunction>()

/** One event of the operation, if the JSON is one. */
export type ToEvent = (json: Buffer) => Buffer

/** Finds the events in what the agent sends, which comes in pieces. Throws for what it should not send. */
export interface Framing {
  take(chunk: Buffer): Buffer[]
}

export function eventsOf({ id, response }: Operation): ToEvent {
  const check = checks.get(id) ?? ajv.compile(response ?? {})
  checks.set(id, check)
  return (json) => {
    const value: unknown = JSON.parse(json.toString())
    if (!check(value)) throw new Error('The agent sent an event that is none')
    return Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
  }
}

export function toEvents(answer: Readable, framing: Framing): Readable {
  const events = new EventStream(framing)
  answer.on('error', (error) => events.destroy(error))
  answer.once('close', () => {
    // Cut off: an end that the agent did not say must not look like one.
    if (!answer.readableEnded) events.destroy()
  })
  events.once('close', () => answer.destroy())
  return answer.pipe(events)
}

class EventStream extends Transform {
  readonly #framing: Framing
  readonly #heartbeat: NodeJS.Timeout

  constructor(framing: Framing) {
    super()
    this.#framing = framing
    // The head of the answer goes with its first bytes, and a client waits for it before it goes on.
    this.push(': listening\n\n')
    this.#heartbeat = setInterval(() => {
      // A reader that is behind gets none: it has enough to read.
      if (!this.writableNeedDrain && this.readableLength === 0) this.push(': still here\n\n')
    }, HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    try {
      for (const event of this.#framing.take(chunk)) this.push(event)
      done()
    } catch (error) {
      done(error as Error)
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#heartbeat)
    done(error)
  }
}

/** One JSON value a line. */
export class LineFraming implements Framing {
  readonly #toEvent: ToEvent
  #pieces: Buffer[] = []
  #length = 0

  constructor(toEvent: ToEvent) {
    this.#toEvent = toEvent
  }

  take(chunk: Buffer): Buffer[] {
    const events: Buffer[] = []
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...this.#pieces, chunk.subarray(from, end)])
      if (line.length > 0) events.push(this.#toEvent(line))
      this.#pieces = []
      this.#length = 0
      from = end + 1
    }
    const rest = chunk.subarray(from)
    this.#length += rest.length
    if (this.#length > MAX_LINE_LENGTH) throw new Error('The agent sent too long a line')
    if (rest.length > 0) this.#pieces.push(rest)
    return events
  }
}
