import type { Socket } from 'node:net'
import { EgressRefusal } from './refusal.ts'
import type { EgressShare } from './shares.ts'

/** One tunnel or request. It ends when its owner says so, or when its connection closes. */
export class Exchange {
  readonly #controller = new AbortController()
  #place: Disposable | undefined
  #socket: Socket | undefined

  constructor(place: Disposable) {
    this.#place = place
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  endWith(socket: Socket): void {
    this.#socket = socket
    socket.once('close', this.end)
    if (socket.destroyed) this.end()
  }

  /** Gives its place to a new exchange, whose owner must end it. Undefined when this one has ended. */
  handOver(): Exchange | undefined {
    const place = this.#place
    this.#place = undefined
    return place && new Exchange(place)
  }

  readonly end = (): void => {
    this.#socket?.off('close', this.end)
    this.#place?.[Symbol.dispose]()
    this.#place = undefined
    this.#controller.abort()
  }
}

/**
 * Limits the concurrent exchanges of one instance, and of all instances of its project. Connections are not enough: a
 * client can send many requests on one connection without waiting for answers.
 */
export class Exchanges {
  readonly #max: number
  readonly #share: EgressShare
  #count = 0

  constructor(max: number, share: EgressShare) {
    this.#max = max
    this.#share = share
  }

  begin(socket: Socket): Exchange {
    if (this.#count >= this.#max) {
      throw new EgressRefusal('egress_busy', `Cannot open a connection: ${this.#max} are open already`)
    }
    const ofProject = this.#share.connection()
    if (!ofProject) {
      const max = this.#share.maxConnections
      throw new EgressRefusal(
        'egress_busy',
        `Cannot open a connection: ${max} of the project are open already`,
      )
    }
    this.#count++
    const exchange = new Exchange({
      [Symbol.dispose]: () => {
        this.#count--
        ofProject[Symbol.dispose]()
      },
    })
    exchange.endWith(socket)
    return exchange
  }
}
