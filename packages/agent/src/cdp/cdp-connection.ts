// The agent's own debugging connection to Chromium, opened when needed and closed afterwards.
import { SmallWebSocket } from './websocket.ts'

const ANSWER_MS = 10_000

interface Waiting {
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** As the protocol documents it for the method. */
type Result = Record<string, unknown>

export interface ListeningOptions {
  /** Messages for which this is false are not even parsed. */
  readonly isWanted?: (text: string) => boolean
  /** How long messages may wait to be read together, so that a busy Chromium is not interrupted for each. */
  readonly gatherMs?: number
}

export class CdpConnection {
  #socket: SmallWebSocket | undefined
  #onEvent: ((event: CdpEvent) => void) | undefined
  #isWanted: ((text: string) => boolean) | undefined
  #nextId = 1
  #isOver = false
  #answerCount = 0
  readonly #waiting = new Map<number, Waiting>()
  readonly #closing = Promise.withResolvers<void>()
  /** Resolves when either side closes the connection. */
  readonly closed = this.#closing.promise

  static async open(
    port: number,
    path: string,
    onEvent?: (event: CdpEvent) => void,
    { isWanted, gatherMs }: ListeningOptions = {},
  ): Promise<CdpConnection> {
    const connection = new CdpConnection()
    connection.#onEvent = onEvent
    connection.#isWanted = isWanted
    connection.#socket = await SmallWebSocket.open(port, path, {
      gatherMs,
      onMessage: (text) => connection.#take(text),
      onClose: () => {
        connection.#isOver = true
        connection.#failAll('the connection is closed')
        connection.#closing.resolve()
      },
    })
    return connection
  }

  /** The number of answers received so far. */
  get answerCount(): number {
    return this.#answerCount
  }

  /** Resolves with the result; the caller names its type, as the protocol documents it. */
  async call<T = Result>(
    method: string,
    params: object = {},
    sessionId?: string,
    answerMs = ANSWER_MS,
  ): Promise<T> {
    if (this.#isOver) throw new Error(`Cannot call ${method}: the connection is closed`)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const id = this.dispatch(method, params, sessionId)
    const timer = setTimeout(() => this.#fail(id, `no answer for ${answerMs / 1000} s`), answerMs)
    this.#waiting.set(id, {
      resolve,
      reject: (error) => reject(new Error(`Cannot call ${method}: ${error.message}`)),
      timer,
    })
    // SAFETY: Chromium's answers follow its protocol; a wrong one harms this instance only.
    return (await promise) as T
  }

  /** Sends without waiting for the answer. */
  dispatch(method: string, params: object = {}, sessionId?: string): number {
    const id = this.#nextId++
    this.#socket!.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }))
    return id
  }

  close(): void {
    this.#socket!.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #take(text: string): void {
    if (this.#isWanted && !this.#isWanted(text)) return
    const message = parse(text)
    if (message?.method !== undefined) return this.#onEvent?.(message as CdpEvent)
    if (message?.id === undefined) return
    this.#answerCount++
    if (message.error) return this.#fail(message.id, message.error.message)
    const waiting = this.#settle(message.id)
    waiting?.resolve(message.result ?? {})
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    clearTimeout(waiting?.timer)
    return waiting
  }

  #fail(id: number, why: string): void {
    this.#settle(id)?.reject(new Error(why))
  }

  #failAll(why: string): void {
    for (const id of this.#waiting.keys()) this.#fail(id, why)
  }
}

export interface CdpEvent {
  readonly method: string
  /** As the protocol documents them for the event. */
  readonly params: Record<string, unknown>
  readonly sessionId?: string
}

interface Message extends Partial<CdpEvent> {
  readonly id?: number
  readonly result?: Result
  readonly error?: { readonly message: string }
}

// For a moment, a tenant's program may be listening on the port instead of Chromium.
function parse(text: string): Message | null {
  try {
    return JSON.parse(text) as Message | null
  } catch {
    return null
  }
}
