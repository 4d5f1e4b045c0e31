// Node's child_process in a separate process.
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Cleanup } from '../cleanup.ts'
import type { FirstByteOrder } from './bare-programs.ts'
import { bareEnv } from './bare.ts'
import { nextMessage } from './next-message.ts'

export class BarePrograms {
  readonly url: string
  readonly pid: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
    this.pid = child.pid!
  }

  static async start(cleanup: Cleanup): Promise<BarePrograms> {
    const child = fork(join(import.meta.dirname, 'bare-programs.ts'), { execArgv: [], env: bareEnv({}) })
    cleanup.after(() => child.kill())
    return new BarePrograms(child, (await nextMessage(child)) as string)
  }

  async firstBytes(order: FirstByteOrder): Promise<number[]> {
    this.#child.send(order)
    const answer = (await nextMessage(this.#child)) as { elapsedMs: number[] } | { error: string }
    if ('error' in answer) throw new Error(`The bare programs failed: ${answer.error}`)
    return answer.elapsedMs
  }
}
