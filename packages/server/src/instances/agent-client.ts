// Calls to the agent of one instance. What it answers comes from inside the instance, so it is
// untrusted: bounded in size and time, and checked against the contract.
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
import { Ajv, type ValidateFunction } from 'ajv'
import type { ChromePolicy } from '@berth/contracts/chrome-policy'
import {
  AgentState,
  PROCESSES_HEADER,
  type BrowserStart,
  type Shape,
  type TelemetryOrder,
} from '@berth/contracts/link'
import {
  MOST_ANSWER_BYTES as MOST_RECORDS,
  MOST_RECORD_BYTES,
  RECORDS_WAIT_MS,
  type RecordingStart,
} from '@berth/contracts/recording'
import { release } from '@berth/kit/spent-pieces'
import { countPassed } from '@berth/kit/young-garbage'
import type { Instance } from './driver.ts'

const MOST_ANSWER_BYTES = 256 * 1024
/** Those of somebody else's answer may be among them. */
const MOST_HEAD_BYTES = 128 * 1024
const MOST_OWN_CALLS = 8
/** One record more than fits, if it is a large one. */
const MOST_RECORDS_BYTES = MOST_RECORDS + MOST_RECORD_BYTES
/** Of a body that comes faster than it goes. */
const MOST_HELD_BYTES = 1024 * 1024
/** At once; further ones wait for their turn. */
const MOST_PASSED_ON = 256
const CALL_MS = 10_000
const START_MS = 30_000
/** Beyond what the agent takes to answer when nothing changes. */
const NEXT_STATE_MS = 35_000
// Compiled with the first answer: a server that only starts needs none.
let stateCheck: ValidateFunction<AgentState> | undefined

function isState(value: unknown): value is AgentState {
  stateCheck ??= new Ajv({ strict: true, allowUnionTypes: true }).compile<AgentState>(AgentState)
  return stateCheck(value)
}

/** The agent answered with something else than it should, or not at all. */
export class AgentError extends Error {}

/** The agent will not do it, and says so. */
export class AgentRefusal extends AgentError {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface CallOptions {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly ms?: number
  readonly signal?: AbortSignal
}

export interface Forwarded {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Readable | string | undefined
  readonly signal: AbortSignal
}

export class AgentClient {
  /** Apart from each other: what is passed on may take for ever, and leases must be renewed meanwhile. */
  readonly #own: LinkAgent
  readonly #passedOn: LinkAgent

  #lastState: AgentState | undefined
  #onProcesses: ((running: number) => void) | undefined

  constructor(instance: Pick<Instance, 'connect'>) {
    this.#own = new LinkAgent(instance, MOST_OWN_CALLS)
    this.#passedOn = new LinkAgent(instance, MOST_PASSED_ON)
  }

  /** Told how many programs run, whenever the agent says so with any of its answers; at once, if it has. */
  set onProcesses(listener: (running: number) => void) {
    this.#onProcesses = listener
    if (this.#lastState) listener(this.#lastState.processes)
  }

  /** As it was when the agent last spoke of it. */
  get lastState(): AgentState | undefined {
    return this.#lastState
  }

  /** Ends when the agent answers, and so tells that the instance is up. */
  async state(options: { signal?: AbortSignal } = {}): Promise<AgentState> {
    return this.#readState({ method: 'GET', path: '/state', ms: START_MS, ...options })
  }

  /** Resolves when it is another than the given one, or after half a minute. */
  async nextState({ number }: AgentState, signal: AbortSignal): Promise<AgentState> {
    return this.#readState({ method: 'GET', path: `/state?after=${number}`, ms: NEXT_STATE_MS, signal })
  }

  /** Waits for a Chromium that takes clients in, where it is being started or about to be, also again. */
  async openState(signal: AbortSignal): Promise<AgentState & { devtools_path: string }> {
    const state = await this.#readState({ method: 'POST', path: '/client', ms: START_MS, signal })
    const { browser, devtools_path, failure } = state
    if (browser === 'ready' && devtools_path !== null) return { ...state, devtools_path }
    throw new AgentError(`Chromium takes no clients: ${failure ?? browser}`)
  }

  /** Brings the state along, so that nobody has to ask for it as well. */
  async renewLease(seconds: number, signal: AbortSignal): Promise<AgentState> {
    const ms = Math.min(CALL_MS, seconds * 1000)
    return this.#readState({ method: 'PUT', path: '/lease', body: { seconds }, ms, signal })
  }

  async startBrowser(options: BrowserStart, signal?: AbortSignal): Promise<AgentState> {
    const call = { method: 'POST', path: '/browser', body: options, ms: START_MS } as const
    return this.#readState({ ...call, ...(signal && { signal }) })
  }

  async shape(shape: Shape): Promise<void> {
    await this.#call({ method: 'POST', path: '/shape', body: shape })
  }

  async setPolicy(policy: ChromePolicy): Promise<void> {
    await this.#call({ method: 'PUT', path: '/policy', body: policy, ms: START_MS })
  }

  /** Resolves when it is captured so, as far as it can be. */
  async setTelemetry(order: TelemetryOrder): Promise<void> {
    await this.#call({ method: 'PUT', path: '/telemetry', body: order, ms: START_MS })
  }

  /** Lines of events after that number, as they happen. */
  async telemetry(after: number, signal: AbortSignal): Promise<IncomingMessage> {
    const path = `/telemetry?after=${after}`
    const call = { method: 'GET', path, headers: {}, body: undefined, signal }
    const answer = await send(this.#passedOn, call)
    if (answer.statusCode === 200) return answer
    answer.resume()
    throw new AgentError(`The agent answered ${answer.statusCode} to ${path}`)
  }

  /** Passes a request on; its answer is a stream whose size and pace are for the caller to bound. */
  async forward(call: Forwarded): Promise<IncomingMessage> {
    const answer = await send(this.#passedOn, call)
    const running = Number(answer.headers[PROCESSES_HEADER])
    if (running > 0) this.#onProcesses?.(running)
    return answer
  }

  /** Its user-data directory as tar, of a Chromium that was ended for it; for the caller to bound and to check. */
  async readProfile(then: 'stay' | 'reopen', signal: AbortSignal): Promise<IncomingMessage> {
    const path = `/profile?then=${then}`
    const answer = await send(this.#passedOn, { method: 'GET', path, headers: {}, body: undefined, signal })
    if (answer.statusCode === 200) return answer
    answer.resume()
    throw new AgentError(`The agent answered ${answer.statusCode} to ${path}`)
  }

  /** Puts a tar, compressed by zstd, in the place of it. A Chromium that runs is started again on it, and ready when this resolves. */
  async writeProfile(
    content: Readable,
    { bytes, tabs, signal }: { bytes: number; tabs: 'keep' | 'drop'; signal: AbortSignal },
  ): Promise<void> {
    const path = `/profile?tabs=${tabs}`
    // What cannot be read must not look like the end of it.
    const broken = new AbortController()
    content.once('error', (error) => broken.abort(error))
    const answer = await send(this.#passedOn, {
      method: 'PUT',
      path,
      headers: { 'content-type': 'application/zstd', 'content-length': bytes },
      body: content,
      signal: AbortSignal.any([signal, broken.signal]),
    })
    const text = await readText(answer, { path, mostBytes: MOST_ANSWER_BYTES })
    if (answer.statusCode === 204) return
    const { message } = (parse(text) ?? {}) as { message?: unknown }
    throw new AgentError(
      `Cannot bring the profile in: ${typeof message === 'string' ? message : 'no reason'}`,
    )
  }

  /** Tabs and session cookies outlive a restart of Chromium from now on. */
  async keepTabs(): Promise<void> {
    await this.#call({ method: 'POST', path: '/profile/keep' })
  }

  /** Resolves when its first picture is taken. */
  async startRecording(start: RecordingStart, signal?: AbortSignal): Promise<void> {
    const body = { method: 'POST', path: '/recordings', body: start, ms: START_MS } as const
    await this.#askRecording(body, signal)
  }

  /** What comes after that number, as soon as there is any; may be empty. */
  async records(id: string, after: number, signal: AbortSignal): Promise<Buffer> {
    const path = `/recordings/${id}?after=${after}`
    return this.#askRecording({ method: 'GET', path, ms: RECORDS_WAIT_MS + CALL_MS }, signal)
  }

  async stopRecording(id: string, signal?: AbortSignal): Promise<void> {
    await this.#askRecording({ method: 'POST', path: `/recordings/${id}/stop` }, signal)
  }

  async forgetRecording(id: string, signal?: AbortSignal): Promise<void> {
    await this.#askRecording({ method: 'DELETE', path: `/recordings/${id}` }, signal)
  }

  async #askRecording(call: Omit<CallOptions, 'signal'>, signal?: AbortSignal): Promise<Buffer> {
    const { method, path, body, ms = CALL_MS } = call
    const timeout = AbortSignal.timeout(ms)
    const answer = await send(this.#passedOn, {
      method,
      path,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const bytes = await readBytes(answer, { path, mostBytes: MOST_RECORDS_BYTES })
    const { statusCode = 0 } = answer
    if (statusCode === 200 || statusCode === 204) return bytes
    const { message } = (parse(bytes.toString('utf8', 0, 4096)) ?? {}) as { message?: unknown }
    const why = typeof message === 'string' ? message.slice(0, 500) : `it answered ${statusCode}`
    throw statusCode < 500 ? new AgentRefusal(statusCode, why) : new AgentError(why)
  }

  /** Ends what is passed on; what keeps the instance alive goes on. */
  endPassedOn(): void {
    this.#passedOn.destroy()
  }

  close(): void {
    this.#own.destroy()
    this.#passedOn.destroy()
  }

  async #readState(call: CallOptions): Promise<AgentState> {
    const text = await this.#call(call)
    const value = parse(text)
    if (!isState(value)) throw new AgentError(`The agent gave a wrong answer to ${call.path}`)
    this.#lastState = value
    this.#onProcesses?.(value.processes)
    return value
  }

  async #call({ method, path, body, ms = CALL_MS, signal }: CallOptions): Promise<string> {
    // Not AbortSignal.timeout(), which would hold all of this for its whole time, answered or not.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms / 1000} s`)), ms)
    try {
      return await this.#exchange({
        method,
        path,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      })
    } finally {
      clearTimeout(timer)
    }
  }

  async #exchange(call: Forwarded): Promise<string> {
    const answer = await send(this.#own, call)
    const text = await readText(answer, { path: call.path, mostBytes: MOST_ANSWER_BYTES })
    if (answer.statusCode === 200 || answer.statusCode === 204) return text
    const { message } = (parse(text) ?? {}) as { message?: unknown }
    throw new AgentError(typeof message === 'string' ? message : `The agent answered ${answer.statusCode}`)
  }
}

function send(
  agent: LinkAgent,
  { method, path, headers, body, signal }: Forwarded,
): Promise<IncomingMessage> {
  const options: LinkRequest = {
    agent,
    host: 'agent',
    method,
    path,
    headers: { ...headers, ...framingOf(body, headers) },
    signal,
    stop: signal,
    maxHeaderSize: MOST_HEAD_BYTES,
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
function framingOf(body: Forwarded['body'], headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  if (typeof body === 'string') return { 'content-length': Buffer.byteLength(body) }
  const isLengthKnown = body === undefined || headers['content-length'] !== undefined
  return isLengthKnown ? {} : { 'transfer-encoding': 'chunked' }
}

/**
 * Not a pipeline: that would end the caller's connection with the agent's, and no answer could be given. And
 * not a pipe, which stops and starts the caller for every piece: that takes a third more time.
 */
function passOn(body: Readable, sent: ClientRequest): void {
  // Node made each for its listeners alone; what others read from may be theirs still.
  const isOfCaller = body instanceof IncomingMessage
  const pass = (piece: Buffer) => {
    sent.write(piece, (error) => {
      // What a socket has written is in the kernel; any other stream may just have handed it on.
      if (!error && isOfCaller && sent.socket instanceof Socket) release(piece)
    })
    if (sent.writableLength < MOST_HELD_BYTES) return
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

interface ReadOptions {
  readonly path: string
  readonly mostBytes: number
}

export async function readText(answer: IncomingMessage, options: ReadOptions): Promise<string> {
  return (await readBytes(answer, options)).toString()
}

async function readBytes(answer: IncomingMessage, { path, mostBytes }: ReadOptions): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > mostBytes) throw new Error(`it is longer than ${mostBytes} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    const reason = (error as Error).message
    throw new AgentError(`Cannot read the agent's answer to ${path}: ${reason}`, { cause: error })
  }
  return Buffer.concat(chunks)
}

interface LinkRequest extends RequestOptions {
  /** The signal once more: a request does not notice its own while it waits for a connection. */
  readonly stop: AbortSignal
}

/** Keeps connections of the link for the next call. */
class LinkAgent extends Agent {
  readonly #instance: Pick<Instance, 'connect'>
  readonly #closing = new AbortController()

  constructor(instance: Pick<Instance, 'connect'>, maxSockets: number) {
    super({ keepAlive: true, maxSockets, maxFreeSockets: 2 })
    this.#instance = instance
  }

  override createConnection(
    { stop }: LinkRequest,
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
