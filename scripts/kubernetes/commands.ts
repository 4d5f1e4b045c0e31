// Short commands, and the long-running programs of the cluster, which write into files and end with this process.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export type Command = readonly [program: string, ...args: string[]]

/** What it prints. Throws with what it complained about. */
export function run([program, ...args]: Command): string {
  return execFileSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

const LOOK_MS = 500
const PATIENCE_MS = 180_000

/** Asks again while it is not so, or the question fails. */
export async function untilSo(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    let failure: unknown
    try {
      if (isSo()) return
    } catch (error) {
      failure = error
    }
    if (performance.now() > deadline) {
      throw new Error(`Not within ${PATIENCE_MS / 1000} s: ${what}`, { cause: failure })
    }
    await delay(LOOK_MS)
  }
}

export class Programs {
  readonly #logs: string
  #isEnding = false

  constructor(logs: string) {
    mkdirSync(logs, { recursive: true })
    this.#logs = logs
  }

  start(name: string, [program, ...args]: Command): ChildProcess {
    const path = join(this.#logs, `${name}.log`)
    const log = openSync(path, 'w')
    const child = spawn(program, args, { stdio: ['ignore', log, log] })
    closeSync(log)
    const complain = (how: string) => {
      if (!this.#isEnding) console.error(`kubernetes: ${name} ${how}; its output is in ${path}`)
    }
    child.once('error', (error) => complain(`did not start: ${error.message}`))
    child.once('exit', (code, signal) => complain(`has ended with ${signal ?? code}`))
    return child
  }

  /** What ends from now on was meant to end. */
  expectEnds(): void {
    this.#isEnding = true
  }
}
