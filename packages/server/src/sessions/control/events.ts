// Turns the agent's streams into server-sent events. This server writes the framing, so that nothing from inside an
// instance can fake an event.
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Operation } from '@berth/contracts/operation'

const MAX_LINE_LENGTH = 1024 * 1024
/** Keeps proxies from closing the connection, and reveals clients that are gone. */
const HEARTBEAT_MS = 15_000
const NEWLINE = 0x0a

// Formats are documentation and not checked here.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, validateFormats: false })
const checks = new Map<string, ValidateFunction>()

/** Converts JSON to an event of the operation; throws if it is malformed. */
export type ToEvent = (json: Buffer) => Buffer

/** Finds the events in the chunks that the agent sends. Throws for malformed input. */
export interface Framing {
  take(chunk: Buffer): Buffer[]
}

export function eventsOf({ id, response }: Operation): ToEvent {
  const check = checks.get(id) ?? ajv.compile(response ?? {})
  checks.set(id, check)
  return (json) => {
    const value: unknown = JSON.parse(json.toString())
    if (!check(value)) throw new Error('The agent sent a malformed event')
    return Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
  }
}

export function toEvents(answer: Readable, framing: Framing): Readable {
  const events = new EventStream(framing)
  answer.on('error', (error) => events.destroy(error))
  answer.once('close', () => {
    // A broken stream must not look like a regular end.
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
    // The response headers are sent with the first bytes, and clients wait for them.
    this.push(': listening\n\n')
    this.#heartbeat = setInterval(() => {
      // A reader that is behind needs no heartbeat.
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

/** One JSON value per line. */
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
    if (this.#length > MAX_LINE_LENGTH) throw new Error('The agent sent a line that is too long')
    if (rest.length > 0) this.#pieces.push(rest)
    return events
  }
}
