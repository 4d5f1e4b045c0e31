// Waits for processes to become idle before they are measured.
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 300
/** As a share of one core. Settled browsers are never fully idle. */
const QUIET_SHARE = 0.1
const WAIT_TIMEOUT_MS = 30_000

/**
 * Waits until the processes use nearly no CPU time. After the timeout, they are measured as they are. Runs
 * without verdicts do not wait.
 */
export async function whenQuiet(cpuMs: () => number, { isJudged }: { isJudged: boolean }): Promise<void> {
  if (!isJudged) return
  const deadline = performance.now() + WAIT_TIMEOUT_MS
  while (!(await isQuiet(cpuMs)) && performance.now() < deadline);
}

async function isQuiet(cpuMs: () => number): Promise<boolean> {
  const before = cpuMs()
  await pause(LOOK_MS)
  return cpuMs() - before <= LOOK_MS * QUIET_SHARE
}
