// The server's side of the channel to the keeper: questions and their answers, and what the keeper reports by itself.
import { NoCapacity, NoGpu } from '../driver/driver.ts'
import type { Ask, AskFor, Failure, FromKeeper } from './messages.ts'

export interface KeeperPort {
  send(message: object, onSent: (error: Error | null) => void): void
  onMessage(listener: (message: FromKeeper, handle: unknown) => void): void
  onGone(listener: () => void): void
}

export interface KeeperAnswer {
  readonly value: unknown
  readonly handle: unknown
}

export type KeeperEvent = Extract<FromKeeper, { event: string }>

/** The channel that this process was started with. */
export const processPort: KeeperPort = {
  send: (message, onSent) => process.send!(message, undefined, undefined, onSent),
  // SAFETY: nobody but the keeper has the other end.
  onMessage: (listener) => process.on('message', listener as (message: unknown, handle: unknown) => void),
  onGone: (listener) => process.on('disconnect', listener),
}

export class KeeperCalls {
  readonly #port: KeeperPort
  readonly #waiting = new Map<number, PromiseWithResolvers<KeeperAnswer>>()
  #next = 0
  #isGone = false

  constructor(port: KeeperPort, onEvent: (event: KeeperEvent, handle: unknown) => void) {
    this.#port = port
    port.onMessage((message, handle) => {
      if ('event' in message) onEvent(message, handle)
      else this.#settle(message, handle)
    })
    port.onGone(() => {
      this.#isGone = true
      for (const n of this.#waiting.keys()) this.#fail(n, gone())
    })
  }

  /** When the signal fires, the keeper is asked to give up; its answer is waited for all the same. */
  async ask<Kind extends Ask>(request: AskFor<Kind>, signal?: AbortSignal): Promise<KeeperAnswer> {
    if (this.#isGone) throw gone()
    const n = this.#next++
    const waiting = Promise.withResolvers<KeeperAnswer>()
    this.#waiting.set(n, waiting)
    const cancel = () => void this.ask({ ask: 'cancel', of: n }).catch(() => {})
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      this.#port.send({ n, ...request }, (error) => {
        if (error) this.#fail(n, new Error('Cannot ask the keeper', { cause: error }))
      })
      return await waiting.promise
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  #settle(message: Exclude<FromKeeper, { event: string }>, handle: unknown): void {
    const waiting = this.#waiting.get(message.n)
    if (!waiting) return
    this.#waiting.delete(message.n)
    if ('value' in message) waiting.resolve({ value: message.value, handle })
    else waiting.reject(failureFrom(message.failure))
  }

  #fail(n: number, error: Error): void {
    this.#waiting.get(n)?.reject(error)
    this.#waiting.delete(n)
  }
}

function gone(): Error {
  return new Error('Cannot ask the keeper: it has ended')
}

function failureFrom({ messages, kind }: Failure): Error {
  if (kind === undefined) return errorFrom(messages)
  return kind === 'no-gpu' ? new NoGpu(messages[0]) : new NoCapacity(messages[0])
}

function errorFrom([message = 'unknown', ...causes]: readonly string[]): Error {
  return new Error(message, causes.length > 0 ? { cause: errorFrom(causes) } : undefined)
}
