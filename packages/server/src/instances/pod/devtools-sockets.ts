// Connections to the debugging port of the Pod's Chromium, which its agent opens and gives away, because only the agent is
// in the network of the instance. Then bytes pass from the link to Chromium, and the agent need not wake for them.
//
// The tenant may have become the agent. What it gives can be any descriptor, and it may keep another of the same
// connection. So nothing but TCP of the instance's own loopback is taken; and because the tenant can make reading and
// writing block, the program that uses this has a time after which the kernel ends it (see pod-link.ts).
import { closeSync } from 'node:fs'
import { connect, Socket } from 'node:net'
import { handOver } from '@berth/contracts/link'
import { descriptorOf } from '@berth/kit/descriptor-of'
import { readFirstLine } from '@berth/kit/first-line'
import type { NativeCalls } from './native-calls.ts'

/** Longer than the agent waits for a Chromium that starts again. */
const ANSWER_MS = 20_000
const MAX_ANSWER_BYTES = 16
/** Beyond that the agent passes the bytes on. */
const MAX_OPENING = 64
const MAX_NUMBER = 2 ** 31

export interface DevtoolsSocketsOptions {
  /** Where the agent listens. */
  readonly link: string
  readonly calls: Pick<NativeCalls, 'receiveDescriptor'>
}

export class DevtoolsSockets {
  readonly #options: DevtoolsSocketsOptions
  /** Connections to the agent. */
  readonly #asking = new Set<Socket>()
  #number = 0
  #opening = 0

  constructor(options: DevtoolsSocketsOptions) {
    this.#options = options
  }

  /** Undefined when the agent cannot give one: it has to pass the bytes on. Rejects when `client` leaves. */
  async open(client: Socket): Promise<Socket | undefined> {
    if (this.#opening >= MAX_OPENING) return undefined
    this.#opening++
    this.#number = (this.#number + 1) % MAX_NUMBER
    const taker = this.#ask(handOver.take)
    const asker = this.#ask(handOver.give)
    const stop = () => void asker.destroy()
    const late = setTimeout(stop, ANSWER_MS)
    client.once('close', stop)
    try {
      const answer = await readFirstLine(asker, MAX_ANSWER_BYTES)
      if (answer === handOver.cannot) return undefined
      if (answer !== handOver.given) throw new Error('The agent gave a malformed answer')
      return this.#receive(taker)
    } finally {
      clearTimeout(late)
      client.off('close', stop)
      taker.destroy()
      asker.destroy()
      this.#opening--
    }
  }

  close(): void {
    for (const socket of this.#asking) socket.destroy()
  }

  #ask(word: string): Socket {
    const socket = connect({ path: this.#options.link })
    // Node would read the byte that comes with the descriptor, and lose the descriptor.
    if (word === handOver.take) socket.pause()
    this.#asking.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => this.#asking.delete(socket))
    socket.write(`${word} ${this.#number}\n`)
    return socket
  }

  #receive(taker: Socket): Socket {
    const from = descriptorOf(taker)
    const descriptor = from === undefined ? undefined : this.#options.calls.receiveDescriptor(from)
    if (descriptor === undefined) throw new Error('The agent gave no descriptor')
    let socket: Socket
    try {
      socket = new Socket({ fd: descriptor, allowHalfOpen: true, readable: true, writable: true })
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
    socket.on('error', () => {})
    if (socket.remoteAddress === '127.0.0.1') return socket.setNoDelay(true)
    socket.destroy()
    throw new Error('The agent gave a descriptor that is no connection to Chromium')
  }
}
