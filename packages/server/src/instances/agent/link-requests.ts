// HTTP requests over an instance's link.
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
import { freeBuffer } from '@berth/kit/free-buffer'
import { collectPassedPieces } from '@berth/kit/collect-passed-pieces'
import type { Instance } from '../driver/driver.ts'
import { AgentError, AgentLate } from './errors.ts'

/** Large enough for the headers of an answer that the agent passes on. */
const MAX_HEAD_BYTES = 128 * 1024
/** How much of a body is buffered while the agent reads slowly. */
const MAX_HELD_BYTES = 1024 * 1024
/** A connection without a request closes then: in an idle session, only the renewal of the lease needs one. */
const FREE_MS = 30_000

export interface LinkRequest {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Readable | string | undefined
  readonly signal: AbortSignal
  /** From the last byte of the request to the head of its answer. Without it, the signal is the caller's deadline. */
  readonly answerWithinMs?: number
}

interface LinkRequestOptions extends RequestOptions {
  /** The signal again: a request does not notice its own signal while it waits for a connection. */
  readonly stop: AbortSignal
}

/** Keeps link connections open for the next request. */
export class LinkAgent extends Agent {
  readonly #instance: Pick<Instance, 'connect'>
  readonly #closing = new AbortController()

  constructor(instance: Pick<Instance, 'connect'>, maxSockets: number) {
    super({ keepAlive: true, maxSockets, maxFreeSockets: 2, timeout: FREE_MS })
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
    this.#closing.abort(new AgentError('The instance has ended'))
    super.destroy()
  }
}

/** Resolves with the head of the answer; the caller limits the body. */
export function send(
  agent: LinkAgent,
  { method, path, headers, body, signal: given, answerWithinMs }: LinkRequest,
): Promise<IncomingMessage> {
  const deadline = answerWithinMs === undefined ? undefined : new AnswerDeadline(answerWithinMs)
  const signal = deadline ? AbortSignal.any([given, deadline.signal]) : given
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
      deadline?.end()
      collectPassedPieces(answer)
      resolve(answer)
    })
    sent.on('error', (error) => {
      deadline?.end()
      const { message } = signal.aborted ? (signal.reason as Error) : error
      const Kind = deadline?.signal.aborted ? AgentLate : AgentError
      reject(new Kind(`Cannot ask the agent for ${path}: ${message}`, { cause: error }))
    })
  })
  if (body instanceof Readable) {
    passOn(body, sent)
    if (deadline) body.on('data', () => deadline.restart())
  } else sent.end(body)
  return answered
}

class AnswerDeadline {
  readonly #late = new AbortController()
  readonly #ms: number
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(ms: number) {
    this.#ms = ms
    this.restart()
  }

  get signal(): AbortSignal {
    return this.#late.signal
  }

  restart(): void {
    clearTimeout(this.#timer)
    // An answer may begin before the request ends.
    if (this.#isOver) return
    this.#timer = setTimeout(() => {
      this.#late.abort(new Error(`no answer within ${this.#ms / 1000} s`))
    }, this.#ms)
  }

  end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }
}

/** Node does not frame the body of a DELETE, so the agent would read the body as the next request. */
function framingOf(body: LinkRequest['body'], headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  if (typeof body === 'string') return { 'content-length': Buffer.byteLength(body) }
  const isLengthKnown = body === undefined || headers['content-length'] !== undefined
  return isLengthKnown ? {} : { 'transfer-encoding': 'chunked' }
}

/**
 * Not a pipeline: that would close the caller's connection with the agent's, and the answer would be lost. Not
 * a pipe either: it pauses and resumes the caller for every chunk, which takes a third more time.
 */
function passOn(body: Readable, sent: ClientRequest): void {
  // Node allocates an incoming message's chunks for its listeners only. Other sources may still use theirs.
  const isFromCaller = body instanceof IncomingMessage
  const pass = (piece: Buffer) => {
    sent.write(piece, (error) => {
      // After a socket's write, the bytes are in the kernel. Any other stream may still hold the chunk.
      if (!error && isFromCaller && sent.socket instanceof Socket) freeBuffer(piece)
    })
    if (sent.writableLength < MAX_HELD_BYTES) return
    body.pause()
    sent.once('drain', () => body.resume())
  }
  if (!isFromCaller) collectPassedPieces(body)
  body.on('data', pass)
  body.once('end', () => sent.end())
  body.once('error', (error) => sent.destroy(error))
  sent.once('close', () => {
    body.off('data', pass)
    // Reads and drops the rest of a refused body.
    if (isFromCaller) collectPassedPieces(body)
  })
  sent.once('response', (answer) => {
    // After a refusal, do not wait for the rest of the body.
    answer.once('end', () => {
      if (!sent.writableFinished) sent.destroy()
    })
  })
  // Send the headers at once: the agent may refuse the request without its body.
  sent.flushHeaders()
}
