// One server per instances directory, in a way that the warden's shell can test: an advisory lock. Node
// cannot take one, but flock(1) can take it on a descriptor that it shares with us, and the kernel
// keeps it until the last process with that descriptor is gone, which is us.
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { once } from 'node:events'

/** A warden that is cleaning up holds the lock for as long as that takes. */
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
        throw new Error(`Cannot run instances: another Berth server holds "${path}"; stop that one`)
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
