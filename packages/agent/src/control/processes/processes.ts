// Programs started in the background. The status of an ended one stays available for a while.
import {
  ENDED_KEPT_SECONDS,
  MAX_ENDED_KEPT,
  MAX_RUNNING,
  MAX_SPOOL_BYTES,
  MAX_SPOOL_BYTES_OF_ALL,
} from '@berth/contracts/processes'
import { ControlError } from '../calls/operation.ts'
import { ManagedProcess } from './managed-process.ts'
import type { Pipes } from './pipes.ts'
import type { Program } from './program.ts'
import { Spool, Spools } from './spool.ts'
import { signalGroup, startPiped } from './start-program.ts'
import { Terminal, type TerminalSize } from './terminal.ts'

const limits = {
  maxBytes: MAX_SPOOL_BYTES,
  maxBytesOfAll: MAX_SPOOL_BYTES_OF_ALL,
  segmentBytes: 4 * 1024 * 1024,
}

export interface ProcessesOptions {
  /** Where output is kept. */
  readonly directory: string
  readonly pipes: Pipes
  /** Called with the number of running programs whenever it changes. */
  readonly onCount: (running: number) => void
}

export interface SpawnOptions {
  /** 0 means no timeout. */
  readonly timeoutSeconds: number
  /** Undefined when the program has no terminal. */
  readonly terminal: TerminalSize | undefined
}

export class Processes {
  readonly #options: ProcessesOptions
  readonly #spools: Spools
  readonly #running = new Map<string, ManagedProcess>()
  /** In the order in which they ended. */
  readonly #ended = new Map<string, ManagedProcess>()
  #starting = 0

  constructor(options: ProcessesOptions) {
    this.#options = options
    this.#spools = new Spools({ directory: options.directory, limits })
  }

  get count(): number {
    return this.#running.size
  }

  async spawn(program: Program, { timeoutSeconds, terminal: size }: SpawnOptions): Promise<ManagedProcess> {
    this.#forgetOld()
    if (this.count + this.#starting >= MAX_RUNNING) {
      throw new ControlError(
        'conflict',
        `Cannot spawn "${program.name}": ${MAX_RUNNING} processes run already`,
      )
    }
    this.#starting++
    try {
      const started = size ? await startInTerminal(program, size) : await this.#startPiped(program)
      const id = process.getBuiltinModule('node:crypto').randomUUID()
      const spool = new Spool(this.#spools)
      const managed = new ManagedProcess({ ...started, id, spool, timeoutSeconds })
      this.#running.set(id, managed)
      this.#options.onCount(this.count)
      void managed.ended.then(() => this.#onEnded(managed))
      return managed
    } finally {
      this.#starting--
    }
  }

  get(id: string): ManagedProcess {
    this.#forgetOld()
    const found = this.#running.get(id) ?? this.#ended.get(id)
    if (!found) throw new ControlError('not_found', `Cannot find process "${id}"`)
    return found
  }

  async #startPiped(program: Program) {
    const { stdin, ...rest } = await startPiped(program, { pipes: this.#options.pipes, hasStdin: true })
    return { ...rest, stdin: stdin!, terminal: undefined }
  }

  /** Kills all running programs. */
  kill(): void {
    for (const { pid } of this.#running.values()) signalGroup(pid, 'KILL')
  }

  #onEnded(ended: ManagedProcess): void {
    this.#running.delete(ended.id)
    this.#ended.set(ended.id, ended)
    this.#forgetOld()
    this.#options.onCount(this.count)
  }

  /** Runs on each request, so that an idle instance needs no timers. */
  #forgetOld(): void {
    const before = performance.now() - ENDED_KEPT_SECONDS * 1000
    for (const process of this.#ended.values()) {
      if (process.endedAt! > before && this.#ended.size <= MAX_ENDED_KEPT) return
      process.forget()
      this.#ended.delete(process.id)
    }
  }
}

async function startInTerminal(program: Program, size: TerminalSize) {
  const { started, terminal } = await Terminal.start(program, size)
  return { started, terminal, stdin: terminal.stream, stdout: terminal.stream, stderr: undefined }
}
