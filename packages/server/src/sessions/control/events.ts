// Turns the agent's streams into server-sent events. This server writes the framing, so that nothing from inside an
// instance can fake an event.
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Operation } from '@berth/contracts/operation'
import { LineSplitter } from '@berth/kit/lines'
import { excessOf } from '../../http/nesting.ts'
import { SSE_HEARTBEAT_MS, sseComment, sseEvent } from '@berth/kit/sse'

const MAX_LINE_BYTES = 1024 * 1024
/** Events have long texts at most. */
const JSON_LIMITS = { maxLevels: 200, maxValues: 20_000 }

// Formats are documentation and not checked here; for validateSchema see http/validation.ts.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, validateFormats: false, validateSchema: false })
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
    const text = json.toString()
    if (excessOf(text, JSON_LIMITS)) throw new Error('The agent sent an event that is too complex')
    const value: unknown = JSON.parse(text)
    if (!check(value)) throw new Error('The agent sent a malformed event')
    return Buffer.from(sseEvent(value as object))
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
    this.push(sseComment('listening'))
    this.#heartbeat = setInterval(() => {
      // A reader that is behind needs no heartbeat.
      if (!this.writableNeedDrain && this.readableLength === 0) this.push(sseComment('still here'))
    }, SSE_HEARTBEAT_MS)
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
  readonly #splitter = new LineSplitter({ maxBytes: MAX_LINE_BYTES })

  constructor(toEvent: ToEvent) {
    this.#toEvent = toEvent
  }

  take(chunk: Buffer): Buffer[] {
    const lines = this.#splitter.split(chunk)
    return lines.filter(({ length }) => length > 0).map((line) => this.#toEvent(line))
  }
}
