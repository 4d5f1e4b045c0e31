// One background program, from its start until it is forgotten.
import type { Readable, Writable } from 'node:stream'
import { outputFrames } from '@berth/contracts/link'
import { freeBuffer } from '@berth/kit/free-buffer'
import { SerialQueue } from '@berth/kit/serial-queue'
import { ControlError } from '../calls/operation.ts'
import { outputEnd } from './output-end.ts'
import { SpoolReader } from './spool-reader.ts'
import type { Spool } from './spool.ts'
import { signalGroup, type SignalName, type StartedProgram } from './start-program.ts'
import type { Terminal, TerminalSize } from './terminal.ts'
import { usageOf } from './usage.ts'

/** Limit of unread input beyond the pipe's own buffer. */
const MAX_UNREAD_BYTES = 1024 * 1024
const UNREAD_MS = 10_000
/** Ctrl-D. */
const END_OF_INPUT = Buffer.from([4])

export interface ManagedProcessOptions {
  readonly id: string
  readonly started: StartedProgram
  readonly terminal: Terminal | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  /** Undefined for a terminal, which has only one output. */
  readonly stderr: Readable | undefined
  readonly spool: Spool
  /** 0 means no timeout. */
  readonly timeoutSeconds: number
}

export class ManagedProcess {
  readonly id: string
  readonly pid: number
  readonly startedAt = new Date()
  readonly ended: Promise<void>
  readonly #terminal: Terminal | undefined
  readonly #spool: Spool
  readonly #stdin: Writable
  /** Serialises writes, so that they do not interleave. */
  readonly #writes = new SerialQueue()
  /** Writes wait for a pending resize, so that the program reads them at the new size. */
  readonly #resizes = new SerialQueue()
  #exitCode: number | null = null
  #endedAt: number | undefined
  #isTimedOut = false
  #lastUsage = { at: performance.now(), seconds: 0 }

  constructor(options: ManagedProcessOptions) {
    const { id, started, terminal, stdin, stdout, stderr, spool, timeoutSeconds } = options
    this.id = id
    this.pid = started.pid
    this.#terminal = terminal
    this.#spool = spool
    this.#stdin = stdin
    stdin.on('error', () => {})
    this.#keep(outputFrames.stdout, stdout)
    if (stderr) this.#keep(outputFrames.stderr, stderr)
    const outputs = stderr ? [stdout, stderr] : [stdout]
    const timer = timeoutSeconds > 0 ? setTimeout(() => this.#onTimeout(), timeoutSeconds * 1000) : undefined
    this.ended = started.exited.then((exitCode) => {
      clearTimeout(timer)
      this.#exitCode = exitCode
      return this.#finish(outputs)
    })
  }

  /** Set once its output has been read completely. */
  get endedAt(): number | undefined {
    return this.#endedAt
  }

  get hasTerminal(): boolean {
    return this.#terminal !== undefined
  }

  status(): object {
    if (this.#exitCode !== null) {
      const timedOut = this.#isTimedOut && { timed_out: true }
      return { state: 'exited', exit_code: this.#exitCode, cpu_pct: 0, mem_bytes: 0, ...timedOut }
    }
    const { seconds, residentBytes } = usageOf(this.pid)
    const now = performance.now()
    const elapsed = (now - this.#lastUsage.at) / 1000
    // An ended orphan's usage is lost, so the sum may shrink.
    const used = Math.max(0, seconds - this.#lastUsage.seconds)
    this.#lastUsage = { at: now, seconds }
    const percent = elapsed > 0 ? Math.round((used / elapsed) * 10_000) / 100 : 0
    return { state: 'running', exit_code: null, cpu_pct: percent, mem_bytes: residentBytes }
  }

  /** Starts with the oldest kept output; the last event is the exit code. */
  output(): Readable {
    const lastEvent = () => ({ event: 'exit', exit_code: this.#exitCode })
    return new SpoolReader({ spool: this.#spool, lastEvent })
  }

  kill(signal: SignalName): void {
    this.#refuseEnded('signal')
    signalGroup(this.pid, signal)
  }

  resize(size: TerminalSize): Promise<void> {
    return this.#resizes.run(() => this.#resize(size))
  }

  /** Resolves when the program, its pipe or a bounded queue has accepted all data. */
  write(data: Buffer, { andClose = false } = {}): Promise<void> {
    const resized = this.#resizes.settled()
    return this.#writes.run(async () => {
      await resized
      await this.#write(data, andClose)
    })
  }

  /** Forgets its output. */
  forget(): void {
    this.#spool.close()
  }

  async #resize(size: TerminalSize): Promise<void> {
    if (!this.#terminal) {
      throw new ControlError('bad_request', `Cannot resize process "${this.id}": it has no terminal`)
    }
    this.#refuseEnded('resize')
    await this.#terminal.resize(size)
  }

  async #write(data: Buffer, andClose: boolean): Promise<void> {
    this.#refuseEnded('write to')
    const stdin = this.#stdin
    if (!stdin.writable)
      throw new ControlError('conflict', `Cannot write to process "${this.id}": its stdin is closed`)
    if (stdin.writableLength > 0 && stdin.writableLength + data.length > MAX_UNREAD_BYTES) {
      await this.#hasRead(stdin)
      this.#refuseEnded('write to')
    }
    if (data.length > 0) stdin.write(data)
    if (!andClose) return
    if (this.#terminal) stdin.write(END_OF_INPUT)
    else stdin.end()
  }

  async #hasRead(stdin: Writable): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const onDrain = () => resolve(true)
    const timer = setTimeout(() => resolve(false), UNREAD_MS)
    stdin.once('drain', onDrain).once('close', onDrain)
    const hasRead = await promise
    clearTimeout(timer)
    stdin.off('drain', onDrain).off('close', onDrain)
    if (hasRead) return
    throw new ControlError(
      'conflict',
      `Cannot write to process "${this.id}": it has not read ${stdin.writableLength} bytes that were written before`,
    )
  }

  #keep(kind: number, stream: Readable): void {
    stream.on('data', (chunk: Buffer) => {
      // After its end, its children's output is read and discarded, because a full pipe would block them.
      if (!this.#spool.isEnded) this.#spool.write(kind, chunk)
      freeBuffer(chunk)
    })
    stream.on('error', () => {})
  }

  #onTimeout(): void {
    this.#isTimedOut = true
    signalGroup(this.pid, 'KILL')
  }

  async #finish(outputs: readonly Readable[]): Promise<void> {
    await outputEnd(outputs)
    this.#endedAt = performance.now()
    this.#stdin.destroy()
    this.#spool.end()
  }

  #refuseEnded(act: string): void {
    if (this.#exitCode === null) return
    throw new ControlError(
      'conflict',
      `Cannot ${act} process "${this.id}": it has ended with code ${this.#exitCode}`,
    )
  }
}
