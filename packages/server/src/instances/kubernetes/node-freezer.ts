// Freezes and thaws instances by the helper of their node, where the operator installed it.
import { readFirstLine } from '@berth/kit/first-line'
import { FREEZER_IDENTITY, MAX_FIRST_LINE_BYTES } from '../pod/protocol.ts'
import { PodDialer } from './pod-dialer.ts'

/** Longer than freezing may take there. */
const ANSWER_MS = 10_000

/** Where a container runs. */
export interface Frozen {
  readonly node: string
  readonly container: string
}

export interface NodeFreezerOptions {
  readonly key: Buffer
  readonly port: number
}

export class NodeFreezer {
  readonly #options: NodeFreezerOptions

  constructor(options: NodeFreezerOptions) {
    this.#options = options
  }

  freeze(of: Frozen): Promise<void> {
    return this.#tell('freeze', of)
  }

  thaw(of: Frozen): Promise<void> {
    return this.#tell('thaw', of)
  }

  async #tell(word: 'freeze' | 'thaw', { node, container }: Frozen): Promise<void> {
    const { key, port } = this.#options
    const dialer = new PodDialer({ id: FREEZER_IDENTITY, key, address: { host: node, port } })
    const over = new AbortController()
    const late = setTimeout(() => over.abort(new Error(`no answer within ${ANSWER_MS / 1000} s`)), ANSWER_MS)
    try {
      const socket = await dialer.dial(over.signal, `${word} ${container}`)
      over.signal.addEventListener('abort', () => socket.destroy())
      try {
        const answer = await readFirstLine(socket, MAX_FIRST_LINE_BYTES)
        if (answer !== 'ok') throw new Error(answer)
      } finally {
        socket.destroy()
      }
    } catch (error) {
      const { message } = over.signal.aborted ? (over.signal.reason as Error) : (error as Error)
      throw new Error(`Cannot ${word} an instance: the freezer of node ${node} says: ${message}`, {
        cause: error,
      })
    } finally {
      clearTimeout(late)
    }
  }
}
