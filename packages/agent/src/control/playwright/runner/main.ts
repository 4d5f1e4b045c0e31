// Runs the code of tenants in a separate process. The agent starts it, sends it tasks, and ends it.
import { Socket } from 'node:net'
import { inspect } from 'node:util'
import { FrameSplitter, toFrame } from '@berth/codecs/frames/frames'
import {
  FRAME,
  MAX_FRAME_BYTES,
  MAX_OUTPUT_BYTES,
  MAX_RESULT_BYTES,
  type Failure,
  type Task,
} from '../conversation.ts'
import { BadCode, compile } from './code.ts'
import { leaveDialogs, scopeAt } from './page.ts'

const CHANNEL = 3
const channel = new Socket({ fd: CHANNEL, readable: true, writable: true })
const frames = new FrameSplitter({ maxBytes: MAX_FRAME_BYTES })
channel.on('data', (chunk: Buffer) => {
  for (const { payload } of frames.split(chunk)) void run(JSON.parse(payload.toString()) as Task)
})
// The agent is gone, so nobody waits for a result.
channel.on('close', () => process.exit())
channel.on('error', () => {})

const send = (kind: number, payload: Buffer | string) =>
  channel.write(toFrame(kind, typeof payload === 'string' ? Buffer.from(payload) : payload))

/** Bytes sent in this run, for each kind of output. */
const sent = new Map<number, number>()

function redirect(stream: NodeJS.WriteStream, kind: number): void {
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk)
    const before = sent.get(kind) ?? 0
    sent.set(kind, before + bytes.length)
    // One byte more than the agent keeps, so that it knows that output was cut.
    const room = MAX_OUTPUT_BYTES + 1 - before
    if (room > 0) send(kind, bytes.subarray(0, room))
    const done = rest.find((each) => typeof each === 'function') as (() => void) | undefined
    if (done) queueMicrotask(done)
    return true
  }
}
redirect(process.stdout, FRAME.stdout)
redirect(process.stderr, FRAME.stderr)

// An uncaught error is printed but does not end the run: the code may still return a result.
const report = (error: unknown) => process.stderr.write(`Uncaught ${inspect(error)}\n`)
process.on('uncaughtException', report)
process.on('unhandledRejection', report)

async function run({ endpoint, code }: Task): Promise<void> {
  sent.clear()
  try {
    const execute = compile(code)
    const { page, context, browser } = await scopeAt(endpoint)
    send(FRAME.begun, '')
    send(FRAME.result, toJson(await execute(page, context, browser)))
  } catch (error) {
    send(FRAME.failure, JSON.stringify(failureOf(error)))
  } finally {
    leaveDialogs()
  }
}

function toJson(value: unknown): string {
  if (value === undefined) return 'null'
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch (error) {
    throw new Error(`Cannot return the result: it is not JSON (${firstLine((error as Error).message)})`, {
      cause: error,
    })
  }
  if (json === undefined) throw new Error(`Cannot return the result: a ${typeof value} is not JSON`)
  const length = Buffer.byteLength(json)
  if (length > MAX_RESULT_BYTES) {
    throw new Error(`Cannot return the result: ${length} bytes of JSON are more than ${MAX_RESULT_BYTES}`)
  }
  return json
}

function failureOf(error: unknown): Failure {
  if (error instanceof BadCode) return { error: error.message, stack: '' }
  if (error instanceof Error)
    return { error: cut(error.message || error.name), stack: cut(error.stack ?? '') }
  return { error: cut(`The code threw ${inspect(error)}`), stack: '' }
}

const MAX_TEXT_LENGTH = 64 * 1024
const cut = (text: string) => text.slice(0, MAX_TEXT_LENGTH)
const firstLine = (text: string) => text.split('\n', 1)[0]!
