// The output of a process comes from the agent as frames of bytes, and becomes events here: quicker than
// text that has to be checked, and what is in such an event cannot be anything but base 64.
import { MOST_OUTPUT_FRAME_BYTES, outputFrames } from '@berth/contracts/link'
import { FrameSplitter, type Frame } from '@berth/kit/frames'
import type { Framing, ToEvent } from './events.ts'

const beginnings = new Map([
  [outputFrames.stdout, Buffer.from('data: {"stream":"stdout","data_b64":"')],
  [outputFrames.stderr, Buffer.from('data: {"stream":"stderr","data_b64":"')],
] as readonly (readonly [number, Buffer])[])
const ENDING = '"}\n\n'

export class OutputFraming implements Framing {
  readonly #toEvent: ToEvent
  readonly #splitter = new FrameSplitter({ mostBytes: MOST_OUTPUT_FRAME_BYTES })

  constructor(toEvent: ToEvent) {
    this.#toEvent = toEvent
  }

  take(chunk: Buffer): Buffer[] {
    return inRuns(this.#splitter.split(chunk)).map(({ kind, payloads }) => {
      if (kind === outputFrames.event) return this.#toEvent(payloads[0]!)
      const beginning = beginnings.get(kind)
      if (!beginning) throw new Error(`The agent sent a frame of kind ${kind}`)
      return dataEvent(beginning, payloads.length === 1 ? payloads[0]! : Buffer.concat(payloads))
    })
  }
}

interface Run {
  readonly kind: number
  readonly payloads: Buffer[]
  length: number
}

/** A program that writes a few bytes at a time is not made an event of each. */
function inRuns(frames: readonly Frame[]): Run[] {
  const runs: Run[] = []
  for (const { kind, payload } of frames) {
    const last = runs.at(-1)
    const joins = last?.kind === kind && kind !== outputFrames.event
    if (joins && last.length + payload.length <= MOST_OUTPUT_FRAME_BYTES) {
      last.payloads.push(payload)
      last.length += payload.length
    } else runs.push({ kind, payloads: [payload], length: payload.length })
  }
  return runs
}

function dataEvent(beginning: Buffer, payload: Buffer): Buffer {
  const text = payload.toString('base64')
  const event = Buffer.allocUnsafe(beginning.length + text.length + ENDING.length)
  beginning.copy(event)
  event.write(text, beginning.length, 'latin1')
  event.write(ENDING, beginning.length + text.length, 'latin1')
  return event
}
