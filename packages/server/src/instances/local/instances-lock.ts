// One server per instances directory, with an advisory lock that the warden's shell can test. Node cannot
// take one, but flock(1) can take it on a descriptor that it shares with us. The kernel keeps the lock
// until the last process with that descriptor ends, which is us.
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { once } from 'node:events'

/** A warden holds the lock while it cleans up. */
const WAIT_SECONDS = 10

export class InstancesLock {
  readonly #descriptor: number

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  static async take({ flock, path }: { flock: string; path: string }): Promise<InstancesLock> {
    const descriptor = openSync(path, 'a', 0o600)
    try {
      const child = spawn(flock, ['--exclusive', '--timeout', String(WAIT_SECONDS), '3'], {
        env: {},
        cwd: '/',
        stdio: ['ignore', 'ignore', 'ignore', descriptor],
      })
      const [code] = (await once(child, 'exit')) as [number | null]
      if (code !== 0) {
        throw new Error(`Cannot run instances: another Berth server holds "${path}"; stop it first`)
      }
      return new InstancesLock(descriptor)
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  }

  release(): void {
    closeSync(this.#descriptor)
  }
}
