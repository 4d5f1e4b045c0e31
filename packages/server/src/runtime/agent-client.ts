// Calls to the agent of one instance. What it answers comes from inside the instance, so it is
// untrusted: bounded in size and time, and checked against the contract.
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { Ajv, type ValidateFunction } from 'ajv'
import { AgentState, type BrowserStart, type Shape } from '@berth/contracts/link'
import type { Instance } from './driver.ts'

const MOST_ANSWER_BYTES = 256 * 1024
const CALL_MS = 10_000
const START_MS = 30_000
// Compiled with the first answer: a server that only starts needs none.
let stateCheck: ValidateFunction<AgentState> | undefined

function isState(value: unknown): value is AgentState {
  stateCheck ??= new Ajv({ strict: true, allowUnionTypes: true }).compile<AgentState>(AgentState)
  return stateCheck(value)
}

/** The agent answered with something else than it should, or not at all. */
export class AgentError extends Error {}

interface CallOptions {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly ms?: number
  readonly signal?: AbortSignal
}

interface Exchange extends Pick<CallOptions, 'method' | 'path' | 'body'> {
  readonly stop: AbortSignal
}

export class AgentClient {
  readonly #connections: LinkAgent

  #lastState: AgentState | undefined

  constructor(instance: Pick<Instance, 'connect'>) {
    this.#connections = new LinkAgent(instance)
  }

  /** As it was when the agent last spoke of it. */
  get lastState(): AgentState | undefined {
    return this.#lastState
  }

  /** Ends when the agent answers, and so tells that the instance is up. */
  async state(options: { signal?: AbortSignal } = {}): Promise<AgentState> {
    return this.#readState({ method: 'GET', path: '/state', ms: START_MS, ...options })
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

  close(): void {
    this.#connections.destroy()
  }

  async #readState(call: CallOptions): Promise<AgentState> {
    const text = await this.#call(call)
    const value = parse(text)
    if (!isState(value)) throw new AgentError(`The agent gave a wrong answer to ${call.path}`)
    return (this.#lastState = value)
  }

  async #call({ method, path, body, ms = CALL_MS, signal }: CallOptions): Promise<string> {
    // Not AbortSignal.timeout(), which would hold all of this for its whole time, answered or not.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms / 1000} s`)), ms)
    const stop = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    try {
      return await this.#exchange({ method, path, body, stop })
    } finally {
      clearTimeout(timer)
    }
  }

  async #exchange({ method, path, body, stop }: Exchange): Promise<string> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options: LinkRequest = {
        agent: this.#connections,
        host: 'agent',
        method,
        path,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        signal: stop,
        stop,
      }
      const sent = request(options)
      sent.once('response', resolve)
      sent.once('error', (error) => {
        const { message } = stop.aborted ? (stop.reason as Error) : error
        reject(new AgentError(`Cannot ask the agent for ${path}: ${message}`, { cause: error }))
      })
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
    const text = await readAll(answer, path)
    if (answer.statusCode === 200 || answer.statusCode === 204) return text
    const { message } = (parse(text) ?? {}) as { message?: unknown }
    throw new AgentError(typeof message === 'string' ? message : `The agent answered ${answer.statusCode}`)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

async function readAll(answer: IncomingMessage, path: string): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MOST_ANSWER_BYTES) {
      answer.destroy()
      throw new AgentError(`The agent answered too much to ${path}`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

interface LinkRequest extends RequestOptions {
  /** The signal once more: a request does not notice its own while it waits for a connection. */
  readonly stop: AbortSignal
}

/** Keeps connections of the link for the next call. */
class LinkAgent extends Agent {
  readonly #instance: Pick<Instance, 'connect'>
  readonly #closing = new AbortController()

  constructor(instance: Pick<Instance, 'connect'>) {
    super({ keepAlive: true, maxSockets: 8, maxFreeSockets: 2 })
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
