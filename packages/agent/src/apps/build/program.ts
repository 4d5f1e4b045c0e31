// Runs a program of a build and yields its lines as they arrive. A slow reader slows the program down.
import type { ChildProcess } from 'node:child_process'
import { LineCutter } from '../../log/line-cutter.ts'
import { killConfined, spawnConfined } from '../workers/confined.ts'

export interface ProgramOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Limit for each of its processes. */
  readonly memoryMb?: number
}

/** Human-readable: what failed in the build, and the last output of the program that failed. */
export class BuildFailed extends Error {}

const LAST_LINES = 15
const BUILD_MEMORY_MB = 1536

export async function* lines(what: string, options: ProgramOptions): AsyncGenerator<string> {
  const { signal, memoryMb = BUILD_MEMORY_MB } = options
  const child = spawnConfined({ ...options, memoryMb, hasChannel: false, isInvocation: false })
  const stop = () => killConfined(child)
  signal.addEventListener('abort', stop)
  const ended = endOf(child)
  const cutter = new LineCutter()
  let last: string[] = []
  const remember = (line: string) => {
    last = [...last, line].slice(-LAST_LINES)
    return line
  }
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      for (const line of cutter.take(chunk)) yield remember(line)
    }
    for (const line of cutter.rest()) yield remember(line)
    const how = await ended
    if (signal.aborted) throw new BuildFailed(`Cannot ${what}: it took too long`)
    if (how !== undefined) throw new BuildFailed(`Cannot ${what} (${how}):\n${last.join('\n')}`)
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

/** Returns undefined if the program succeeded. */
function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `code ${code}`)))
  })
}
