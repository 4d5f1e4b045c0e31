// Gives connections to the debugging port away, so that their bytes do not pass this process: it would wake for each
// message and again for its answer. See handOver in contracts/link.ts.
import type { Socket } from 'node:net'
import { handOver } from '@berth/contracts/link'
import { descriptorOf } from '@berth/kit/descriptor-of'
import { messageWith } from '@berth/kit/passed-descriptor'
import type { NativeCalls } from '../user/native-calls.ts'
import { openDevtools, type DevtoolsOptions } from './open-devtools.ts'

/** Of connections that still wait for each other. */
const MAX_MEETINGS = 256

export interface HandOverOptions extends DevtoolsOptions {
  /** Undefined where the system has none; then nothing is given. */
  readonly calls: Pick<NativeCalls, 'sendmsg'> | undefined
}

export class HandOver {
  readonly #options: HandOverOptions
  /** By the number that both connections say: the one that takes. */
  readonly #meetings = new Map<number, PromiseWithResolvers<Socket>>()

  constructor(options: HandOverOptions) {
    this.#options = options
  }

  readonly take = (taker: Socket, number: number): void => {
    this.#meet(taker, number)?.resolve(taker)
  }

  readonly give = (asker: Socket, number: number): void => {
    void this.#give(asker, number).catch(() => asker.destroy())
  }

  async #give(asker: Socket, number: number): Promise<void> {
    const { calls } = this.#options
    if (!calls) return void asker.end(`${handOver.cannot}\n`)
    const meeting = this.#meet(asker, number)
    if (!meeting) return
    const devtools = await openDevtools(asker, this.#options)
    if (!devtools) return void asker.destroy()
    try {
      const [to, descriptor] = [descriptorOf(await meeting.promise), descriptorOf(devtools)]
      if (to === undefined || descriptor === undefined || calls.sendmsg(to, messageWith(descriptor), 0) !== 1)
        throw new Error('Cannot give the connection away: one of them has ended')
    } finally {
      // Only our descriptor of it.
      devtools.destroy()
    }
    asker.end(`${handOver.given}\n`)
  }

  /** Whichever of the two comes first waits for the other. Undefined, with the connection closed, when too many wait. */
  #meet(connection: Socket, number: number): PromiseWithResolvers<Socket> | undefined {
    const meeting = this.#meetings.get(number) ?? Promise.withResolvers<Socket>()
    if (!this.#meetings.has(number) && this.#meetings.size >= MAX_MEETINGS) {
      connection.destroy()
      return undefined
    }
    this.#meetings.set(number, meeting)
    connection.once('close', () => {
      meeting.reject(new Error('Its other connection has ended'))
      if (this.#meetings.get(number) === meeting) this.#meetings.delete(number)
    })
    meeting.promise.catch(() => {})
    // Only what is read notices its end.
    connection.resume()
    return meeting
  }
}
