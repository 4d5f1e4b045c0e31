import type { Socket } from 'node:net'
import { EgressRefusal } from './refusal.ts'
import type { EgressShare } from './shares.ts'

/** One tunnel or request. It ends when its owner says so, or when its connection closes. */
export interface Exchange {
  readonly signal: AbortSignal
  end(): void
}

/**
 * Limits the concurrent exchanges of one instance, and of all instances of its project. Connections are not enough: a client can send many
 * requests on one connection without waiting for answers.
 */
export class Exchanges {
  readonly #max: number
  readonly #share: EgressShare
  readonly #underWay = new Set<AbortController>()

  constructor(max: number, share: EgressShare) {
    this.#max = max
    this.#share = share
  }

  begin(socket: Socket): Exchange {
    if (this.#underWay.size >= this.#max) {
      throw new EgressRefusal('egress_busy', `Cannot open a connection: ${this.#max} are open already`)
    }
    const place = this.#share.connection()
    if (!place) {
      const max = this.#share.maxConnections
      throw new EgressRefusal(
        'egress_busy',
        `Cannot open a connection: ${max} of the project are open already`,
      )
    }
    const controller = new AbortController()
    const end = () => {
      if (!this.#underWay.delete(controller)) return
      place[Symbol.dispose]()
      socket.off('close', end)
      controller.abort()
    }
    this.#underWay.add(controller)
    socket.once('close', end)
    if (socket.destroyed) end()
    return { signal: controller.signal, end }
  }
}
