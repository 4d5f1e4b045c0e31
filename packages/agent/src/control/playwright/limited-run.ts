// One run with its limits: a runner that does not start in time, code that runs too long, a caller that leaves.
import { ControlError } from '../calls/operation.ts'
import type { Task } from './conversation.ts'
import { RunnerEnded, type Outcome, type RunnerProcess } from './runner-process.ts'

/** Limit for a runner to start, connect and find its page. The time limit of the code starts after that. */
const BEGIN_MS = 30_000

export interface LimitedRun {
  readonly task: Task
  readonly timeoutMs: number
  /** Fires when the caller has left; then the code is stopped. */
  readonly signal: AbortSignal
}

export interface Ended {
  /** Undefined if the code was stopped or ended its own process; then `error` says why. */
  readonly outcome: Outcome | undefined
  readonly error: string | undefined
  readonly hasBegun: boolean
  /** How long the code itself ran. */
  readonly durationMs: number
}

export async function runWithin(
  runner: RunnerProcess,
  { task, timeoutMs, signal }: LimitedRun,
): Promise<Ended> {
  let begunAt: number | undefined
  const late = 'Cannot run code: its process did not start in time'
  let timer = setTimeout(() => runner.kill(late), BEGIN_MS)
  const onBegun = () => {
    if (begunAt !== undefined) return
    begunAt = performance.now()
    clearTimeout(timer)
    timer = setTimeout(() => runner.kill(`Execution timed out after ${timeoutMs}ms`), timeoutMs)
  }
  const onGone = () => runner.kill('The caller is gone')
  signal.addEventListener('abort', onGone)
  const ended = () => ({
    hasBegun: begunAt !== undefined,
    durationMs: begunAt === undefined ? 0 : Math.round(performance.now() - begunAt),
  })
  try {
    const outcome = await runner.run({ task, onBegun })
    return { outcome, error: undefined, ...ended() }
  } catch (error) {
    if (!(error instanceof RunnerEnded)) throw error
    const what = begunAt === undefined ? 'Cannot run code' : 'The code ended its own process'
    return { outcome: undefined, error: runner.reason ?? `${what}: ${error.message}`, ...ended() }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onGone)
  }
}

export function mustHaveBegun({ hasBegun, error }: Ended): void {
  if (!hasBegun) throw new ControlError('unavailable', error ?? 'Cannot run code: its process has ended')
}
