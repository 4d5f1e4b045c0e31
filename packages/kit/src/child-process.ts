// Runs a child process in its own process group. Keeps its recent output for error messages, notices an exit before it is
// ready, and always waits for its end.
import { spawn, type ChildProcess } from 'node:child_process'

const RECENT_OUTPUT_BYTES = 16 * 1024

export interface ChildOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Called with every line that the child prints. */
  readonly onLine?: (line: string) => void
}

export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class Child {
  readonly #process: ChildProcess
  readonly exited: Promise<ChildExit>
  readonly command: string
  #recent = ''
  #partialLine = ''
  #isRunning = true

  constructor({ command, args, env, cwd = '/', onLine }: ChildOptions) {
    this.command = command
    this.#process = spawn(command, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const collect = (chunk: Buffer) => {
      const text = chunk.toString()
      this.#recent = (this.#recent + text).slice(-RECENT_OUTPUT_BYTES)
      if (!onLine) return
      const lines = (this.#partialLine + text).slice(-RECENT_OUTPUT_BYTES).split('\n')
      this.#partialLine = lines.pop() ?? ''
      for (const line of lines) onLine(line)
    }
    this.#process.stdout!.on('data', collect)
    this.#process.stderr!.on('data', collect)
    this.exited = new Promise((resolve) => {
      this.#process.once('error', (error) => {
        this.#recent += String(error)
        this.#isRunning = false
        resolve({ code: 127, signal: null })
      })
      this.#process.once('close', (code, signal) => {
        this.#isRunning = false
        resolve({ code, signal })
      })
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  get recentOutput(): string {
    return this.#recent.trim()
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#isRunning) this.#process.kill(signal)
  }

  /** Rejects with the recent output if the child ends before `ready` resolves. */
  async waitUntil(ready: Promise<unknown>): Promise<void> {
    await Promise.race([
      ready,
      this.exited.then(({ code, signal }) => {
        throw new Error(
          `Cannot start "${this.command}": it ended with ${signal ?? `code ${code}`}\n${this.recentOutput}`,
        )
      }),
    ])
  }

  /** Sends `signal`, then SIGKILL after the grace period. Resolves when the child has ended. */
  async stop({ signal, graceMs }: { signal: NodeJS.Signals; graceMs: number }): Promise<void> {
    if (!this.#isRunning) return
    this.signal(signal)
    const timer = setTimeout(() => this.signal('SIGKILL'), graceMs)
    await this.exited
    clearTimeout(timer)
  }
}

/** Runs a command to its end. The error of a failure contains the output. */
export async function run(options: ChildOptions): Promise<string> {
  const child = new Child(options)
  const { code, signal } = await child.exited
  if (code !== 0) {
    throw new Error(
      `Command "${options.command}" ended with ${signal ?? `code ${code}`}\n${child.recentOutput}`,
    )
  }
  return child.recentOutput
}
