// The runner's side of its socket to the agent, and its output, which goes there, too.
import { Socket } from 'node:net'
import { inspect } from 'node:util'
import { FrameSplitter, toFrame, type Frame } from '@berth/codecs/frames/frames'
import { FRAME, MAX_FRAME_BYTES } from '../conversation.ts'

const CHANNEL = 3

export interface Channel {
  readonly send: (kind: number, payload: Buffer | string) => void
  /** From now on, output counts anew. */
  readonly startRun: () => void
}

/** `maxOutputBytes`: what the agent keeps of each kind of output of a run. */
export function openChannel({
  maxOutputBytes,
  onFrame,
}: {
  maxOutputBytes: number
  onFrame: (frame: Frame) => void
}): Channel {
  const channel = new Socket({ fd: CHANNEL, readable: true, writable: true })
  const frames = new FrameSplitter({ maxBytes: MAX_FRAME_BYTES })
  channel.on('data', (chunk: Buffer) => {
    for (const frame of frames.split(chunk)) onFrame(frame)
  })
  // The agent is gone, so nobody waits for a result.
  channel.on('close', () => process.exit())
  channel.on('error', () => {})

  const send = (kind: number, payload: Buffer | string) => {
    channel.write(toFrame(kind, typeof payload === 'string' ? Buffer.from(payload) : payload))
  }

  /** Bytes sent in this run, for each kind of output. */
  const sent = new Map<number, number>()

  const redirect = (stream: NodeJS.WriteStream, kind: number) => {
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk)
      const before = sent.get(kind) ?? 0
      sent.set(kind, before + bytes.length)
      // One byte more than the agent keeps, so that it knows that output was cut.
      const room = maxOutputBytes + 1 - before
      if (room > 0) send(kind, bytes.subarray(0, room))
      const done = rest.find((each) => typeof each === 'function') as (() => void) | undefined
      if (done) queueMicrotask(done)
      return true
    }
  }
  redirect(process.stdout, FRAME.stdout)
  redirect(process.stderr, FRAME.stderr)

  process.on('uncaughtException', report)
  process.on('unhandledRejection', report)

  return { send, startRun: () => sent.clear() }
}

/** An uncaught error does not end the run: the code may still return a result. */
const report = (error: unknown) => process.stderr.write(`Uncaught ${inspect(error)}\n`)
