// Calls the agent of one instance. Each job of the agent has its own file beside this one, with functions that
// take a client: chromium.ts, state.ts, telemetry.ts and so on.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { JsonOutline } from '@berth/codecs/json/outline'
import { PROCESSES_HEADER } from '@berth/contracts/link'
import type { Instance } from '../driver/driver.ts'
import { answerBudget } from './answer-budget.ts'
import { isSuccess, readBytes, readError } from './answers.ts'
import { LastState } from './last-state.ts'
import { LinkAgent, send, type LinkRequest } from './link-requests.ts'

const MAX_MANAGEMENT_CONNECTIONS = 8
/** Connections at once; further requests wait in a queue. */
const MAX_WORK_CONNECTIONS = 256
const MAX_ANSWER_BYTES = 256 * 1024
const CALL_TIMEOUT_MS = 10_000
/** Until the head of an answer that is read as a stream. */
const MAX_HEAD_WAIT_MS = 300_000
const MAX_DEPTH = 200

/**
 * Management keeps the instance alive and configured. Work is what users request: it may take long, and ends with
 * the session. They use separate connections, so that work never delays the renewal of a lease.
 */
export type Purpose = 'management' | 'work'

export interface Call {
  readonly purpose: Purpose
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent unchanged, instead of JSON. */
  readonly body?: Readable | string
  readonly headers?: OutgoingHttpHeaders
  readonly timeoutMs?: number
  readonly maxBytes?: number
  /** For a large JSON answer: parsing it takes time for each value. */
  readonly maxValues?: number
  readonly signal?: AbortSignal | undefined
}

type StreamCall = Omit<Call, 'timeoutMs' | 'maxBytes' | 'maxValues'> & { readonly signal: AbortSignal }

type Reachable = Pick<Instance, 'connect' | 'renewLease'>

export class AgentClient {
  readonly #instance: Reachable
  readonly #connections: Readonly<Record<Purpose, LinkAgent>>
  /** The state from the agent's last answer. */
  readonly lastState = new LastState()

  constructor(instance: Reachable) {
    this.#instance = instance
    this.#connections = {
      management: new LinkAgent(instance, MAX_MANAGEMENT_CONNECTIONS),
      work: new LinkAgent(instance, MAX_WORK_CONNECTIONS),
    }
  }

  /** Returns the whole answer. Throws an AgentRefusal for the caller's error, and an AgentError for any other. */
  async call(options: Call): Promise<Buffer> {
    const { timeoutMs = CALL_TIMEOUT_MS, maxBytes = MAX_ANSWER_BYTES, maxValues, ...call } = options
    const { path } = call
    // Not AbortSignal.timeout(), which would keep all of this in memory for the whole timeout, even after the answer.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
    const signal = call.signal ? AbortSignal.any([call.signal, late.signal]) : late.signal
    using share = answerBudget.shareOf(this)
    try {
      const answer = await this.#open({ ...call, signal })
      return await readBytes(answer, {
        path,
        maxBytes,
        hold: (bytes) => share.take(bytes, signal),
        check: maxValues === undefined ? undefined : new JsonOutline({ maxDepth: MAX_DEPTH, maxValues }),
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Returns a successful answer as a stream; the caller limits its size and pace. Throws like call(). */
  async open(call: StreamCall): Promise<IncomingMessage> {
    return this.#open(call, MAX_HEAD_WAIT_MS)
  }

  async #open(call: StreamCall, answerWithinMs?: number): Promise<IncomingMessage> {
    const { purpose, method, path, json, headers = {}, signal } = call
    const answer = await this.#send(purpose, {
      method,
      path,
      headers: json === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      body: json === undefined ? call.body : JSON.stringify(json),
      signal,
      ...(answerWithinMs !== undefined && { answerWithinMs }),
    })
    if (isSuccess(answer)) return answer
    throw await readError(answer, path)
  }

  /** Passes a request on and returns any answer; the caller limits its size and pace. */
  async forward(request: Required<LinkRequest>): Promise<IncomingMessage> {
    return this.#send('work', request)
  }

  async #send(purpose: Purpose, request: LinkRequest): Promise<IncomingMessage> {
    const answer = await send(this.#connections[purpose], request)
    const running = Number(answer.headers[PROCESSES_HEADER])
    if (running > 0) this.lastState.hearOfProcesses(running)
    return answer
  }

  /** Over a connection that is there anyway, if there is one now. Resolves with the answer. */
  renewLeaseAside(seconds: number, signal: AbortSignal): Promise<string> | undefined {
    return this.#instance.renewLease?.(seconds, signal)
  }

  /** Ends all work; management calls continue. */
  endWork(): void {
    this.#connections.work.destroy()
  }

  close(): void {
    this.#connections.management.destroy()
    this.#connections.work.destroy()
  }
}
