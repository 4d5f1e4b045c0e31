// Websockets to terminals. Binary messages carry the program's output, from the start of the kept output, and
// its input. Text messages carry the size and, at the end, the exit code.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type RawData, type WebSocket } from 'ws'
import { MAX_OUTPUT_FRAME_BYTES, outputFrames } from '@berth/contracts/link'
import { FrameSplitter } from '@berth/codecs/frames/frames'
import type { ManagedProcess } from './managed-process.ts'

const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_SIZE = 65_535

const webSockets = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  perMessageDeflate: false,
})

export interface Attachment {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly process: ManagedProcess
}

export function attach({ request, socket, head, process }: Attachment): void {
  webSockets.handleUpgrade(request, socket, head, (client) => {
    client.on('error', () => client.terminate())
    client.on('message', (data: RawData, isBinary: boolean) => {
      // SAFETY: binary messages are Buffers by default.
      const bytes = data as Buffer
      const taken = isBinary ? write(client, process, bytes) : resize(process, bytes)
      taken.catch((error: unknown) => client.close(1008, (error as Error).message.slice(0, 120)))
    })
    void send(client, process)
  })
}

/** Pauses the client until the program has read the data. */
async function write(client: WebSocket, process: ManagedProcess, data: Buffer): Promise<void> {
  client.pause()
  try {
    await process.write(data)
  } finally {
    client.resume()
  }
}

async function resize(process: ManagedProcess, text: Buffer): Promise<void> {
  const { type, rows, cols } = parse(text)
  if (type !== 'resize' || !isSize(rows) || !isSize(cols)) {
    throw new Error('The message is not {"type":"resize","rows":24,"cols":80}')
  }
  await process.resize({ rows, cols })
}

const isSize = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_SIZE

async function send(client: WebSocket, process: ManagedProcess): Promise<void> {
  const output = process.output()
  client.once('close', () => output.destroy())
  const splitter = new FrameSplitter({ maxBytes: MAX_OUTPUT_FRAME_BYTES })
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      for (const { kind, payload } of splitter.split(chunk)) {
        if (kind !== outputFrames.event) await sendOne(client, payload)
        else await sendEvent(client, payload)
      }
    }
    client.close(1000)
  } catch {
    // Either side is gone.
    client.terminate()
  }
}

async function sendEvent(client: WebSocket, json: Buffer): Promise<void> {
  const { event, ...rest } = parse(json)
  await sendOne(client, JSON.stringify({ type: event, ...rest }))
}

function sendOne(client: WebSocket, data: Buffer | string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.send(data, (error) => (error ? reject(error) : resolve()))
  })
}

function parse(text: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
