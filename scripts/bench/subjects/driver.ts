// Our side of the bare driver: starts its process and sends it statements.
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Cleanup } from '../cleanup.ts'
import type { DriverAnswer, DriverOrder } from './bare-driver.ts'
import { bareEnv } from './bare.ts'
import { nextMessage } from './next-message.ts'

/** The bare driver in its own process: runs statements and reports how long each took. */
export class Driver {
  readonly pid: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
    this.pid = child.pid!
  }

  static async start(cleanup: Cleanup, databaseHost: string): Promise<Driver> {
    const child = fork(join(import.meta.dirname, 'bare-driver.ts'), {
      execArgv: [],
      env: bareEnv({ BARE_DATABASE_HOST: databaseHost }),
    })
    cleanup.after(() => child.kill())
    await nextMessage(child)
    return new Driver(child)
  }

  async run(order: DriverOrder): Promise<DriverAnswer> {
    this.#child.send(order)
    const answer = (await nextMessage(this.#child)) as DriverAnswer | { error: string }
    if ('error' in answer) throw new Error(`The bare driver failed: ${answer.error}`)
    return answer
  }
}
