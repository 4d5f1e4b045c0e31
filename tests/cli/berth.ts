// Runs the command line as a person would: as a program, with its own home directory.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir, type Owner } from '../fixtures/server.ts'

const root = join(import.meta.dirname, '../..')

/** What the runner of the tests has built; a file that runs alone runs the sources. */
export const PROGRAM = join(
  root,
  process.env['BERTH_TEST_PROGRAMS'] === undefined
    ? 'packages/cli/src/main.ts'
    : 'packages/cli/bin/berth.mjs',
)

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  /** All output so far. */
  output(): string
  kill(signal: NodeJS.Signals): void
}

export interface RunOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Goes on beside it, and may send it a signal. */
  readonly during?: (child: Running) => Promise<void>
}

export interface Berth {
  (args: readonly string[], options?: RunOptions): Promise<Ran>
  readonly home: string
  readonly env: Readonly<Record<string, string>>
}

/** Without a server nothing but its own home is known to it. */
export function berthFor(owner: Owner, server?: { readonly url: string; readonly key: string }): Berth {
  const home = join(tempDir(owner), 'home')
  mkdirSync(home)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TERM: 'xterm-256color',
    ...(server && { KERNEL_BASE_URL: server.url, KERNEL_API_KEY: server.key }),
  }
  const run = async (args: readonly string[], options: RunOptions = {}): Promise<Ran> => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { ...env, ...options.env },
      cwd: options.cwd ?? home,
      stdio: 'pipe',
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()))
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()))
    child.stdin.on('error', () => {})
    child.stdin.end(options.stdin ?? '')
    const closed = once(child, 'close') as Promise<[number | null]>
    try {
      await options.during?.({
        output: () => stderr + stdout,
        kill: (signal) => void child.kill(signal),
      })
    } catch (error) {
      child.kill('SIGKILL')
      throw new Error(`${(error as Error).message}; it printed:\n${stderr}${stdout}`, { cause: error })
    }
    const [code] = await closed
    return { code, stdout, stderr }
  }
  return Object.assign(run, { home, env })
}
