import type { Readable } from 'node:stream'
import { MAX_EXEC_OUTPUT_BYTES } from '@berth/contracts/processes'
import { ControlError } from '../calls/operation.ts'
import { outputEnd } from './output-end.ts'
import type { Program } from './program.ts'
import type { Pipes } from './pipes.ts'
import { signalGroup, startPiped } from './start-program.ts'

export interface ExecOptions {
  readonly pipes: Pipes
  /** 0 means no timeout. */
  readonly timeoutSeconds: number
  /** Aborts when the caller leaves; the program is then killed. */
  readonly signal: AbortSignal
}

/** Runs a program to its end. */
export async function exec(
  program: Program,
  { pipes, timeoutSeconds, signal }: ExecOptions,
): Promise<object> {
  const startedAt = performance.now()
  const { started, stdout: out, stderr: err } = await startPiped(program, { pipes, hasStdin: false })
  const [stdout, stderr] = [new Collected(out), new Collected(err)]

  let isLate = false
  const end = () => signalGroup(started.pid, 'KILL')
  const onLate = () => {
    isLate = true
    end()
  }
  const timer = timeoutSeconds > 0 ? setTimeout(onLate, timeoutSeconds * 1000) : undefined
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  const exitCode = await started.exited
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
  await outputEnd([out, err])
  if (isLate) {
    const { name } = program
    throw new ControlError(
      'process_timed_out',
      `Cannot finish "${name}": it ran longer than ${timeoutSeconds} s`,
    )
  }
  return {
    exit_code: exitCode,
    stdout_b64: stdout.close(),
    stderr_b64: stderr.close(),
    duration_ms: Math.round(performance.now() - startedAt),
    ...(stdout.dropped > 0 && { stdout_dropped_bytes: stdout.dropped }),
    ...(stderr.dropped > 0 && { stderr_dropped_bytes: stderr.dropped }),
  }
}

/** Keeps the start of an output. */
class Collected {
  readonly #chunks: Buffer[] = []
  #length = 0
  #isClosed = false
  dropped = 0

  constructor(stream: Readable) {
    // Keeps reading beyond the limit, because a full pipe would block the program or its children.
    stream.on('data', (chunk: Buffer) => this.#take(chunk))
    stream.on('error', () => {})
  }

  close(): string {
    this.#isClosed = true
    if (this.dropped > 0)
      this.#chunks.push(Buffer.from(`\n[berth: ${this.dropped} more bytes are left out]\n`))
    return Buffer.concat(this.#chunks).toString('base64')
  }

  #take(chunk: Buffer): void {
    if (this.#isClosed) return
    const kept = chunk.subarray(0, MAX_EXEC_OUTPUT_BYTES - this.#length)
    if (kept.length > 0) this.#chunks.push(kept)
    this.#length += kept.length
    this.dropped += chunk.length - kept.length
  }
}
