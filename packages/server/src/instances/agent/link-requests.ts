// HTTP requests over the link of an instance.
import {
  Agent,
  IncomingMessage,
  request,
  type ClientRequest,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http'
import { Socket } from 'node:net'
import { Readable, type Duplex } from 'node:stream'
import { release } from '@berth/kit/spent-pieces'
import { countPassed } from '@berth/kit/young-garbage'
import type { Instance } from '../driver/driver.ts'
import { AgentError } from './errors.ts'

/** The headers of somebody else's answer may be among them. */
const MAX_HEAD_BYTES = 128 * 1024
/** Of a body that comes faster than it goes. */
const MAX_HELD_BYTES = 1024 * 1024

export interface LinkRequest {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Readable | string | undefined
  readonly signal: AbortSignal
}

interface LinkRequestOptions extends RequestOptions {
  /** The signal once more: a request does not notice its own while it waits for a connection. */
  readonly stop: AbortSignal
}

/** Keeps connections of the link for the next request. */
export class LinkAgent extends Agent {
  readonly #instance: Pick<Instance, 'connect'>
  readonly #closing = new AbortController()

  constructor(instance: Pick<Instance, 'connect'>, maxSockets: number) {
    super({ keepAlive: true, maxSockets, maxFreeSockets: 2 })
    this.#instance = instance
  }

  override createConnection(
    { stop }: LinkRequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    this.#instance.connect('api', AbortSignal.any([stop, this.#closing.signal])).then(
      (stream) => callback?.(null, stream),
      (error: unknown) => callback?.(error as Error, undefined as unknown as Duplex),
    )
    return undefined
  }

  override destroy(): void {
    this.#closing.abort(new AgentError('The instance is no more'))
    super.destroy()
  }
}

/** Resolves with the head of the answer; its body is for the caller to bound. */
export function send(
  agent: LinkAgent,
  { method, path, headers, body, signal }: LinkRequest,
): Promise<IncomingMessage> {
  const options: LinkRequestOptions = {
    agent,
    host: 'agent',
    method,
    path,
    headers: { ...headers, ...framingOf(body, headers) },
    signal,
    stop: signal,
    maxHeaderSize: MAX_HEAD_BYTES,
  }
  const sent = request(options)
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', (answer) => {
      countPassed(answer)
      resolve(answer)
    })
    sent.on('error', (error) => {
      const { message } = signal.aborted ? (signal.reason as Error) : error
      reject(new AgentError(`Cannot ask the agent for ${path}: ${message}`, { cause: error }))
    })
  })
  if (body instanceof Readable) passOn(body, sent)
  else sent.end(body)
  return answered
}

/** Node does not say where the body of a DELETE ends, and what follows would be taken for a request. */
function framingOf(body: LinkRequest['body'], headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  if (typeof body === 'string') return { 'content-length': Buffer.byteLength(body) }
  const isLengthKnown = body === undefined || headers['content-length'] !== undefined
  return isLengthKnown ? {} : { 'transfer-encoding': 'chunked' }
}

/**
 * Not a pipeline: that would end the caller's connection with the agent's, and no answer could be given. And
 * not a pipe, which stops and starts the caller for every piece: that takes a third more time.
 */
function passOn(body: Readable, sent: ClientRequest): void {
  // Node made each piece for its listeners alone; what others read from may still be theirs.
  const isOfCaller = body instanceof IncomingMessage
  const pass = (piece: Buffer) => {
    sent.write(piece, (error) => {
      // What a socket has written is in the kernel; any other stream may just have handed it on.
      if (!error && isOfCaller && sent.socket instanceof Socket) release(piece)
    })
    if (sent.writableLength < MAX_HELD_BYTES) return
    body.pause()
    sent.once('drain', () => body.resume())
  }
  if (!isOfCaller) countPassed(body)
  body.on('data', pass)
  body.once('end', () => sent.end())
  body.once('error', (error) => sent.destroy(error))
  sent.once('close', () => {
    body.off('data', pass)
    // The rest of what was refused is read and thrown away.
    if (isOfCaller) countPassed(body)
  })
  sent.once('response', (answer) => {
    // A refusal need not wait for the rest of what is refused.
    answer.once('end', () => {
      if (!sent.writableFinished) sent.destroy()
    })
  })
  // Without waiting for the first of the body: it may be refused for what it is.
  sent.flushHeaders()
}
