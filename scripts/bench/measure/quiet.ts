import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 300
/** Of a core; browsers that have settled are never quite still. */
const QUIET_SHARE = 0.1
const WAIT_TIMEOUT_MS = 30_000

/**
 * Waits until what has this CPU time uses nearly none, but not for ever: what never rests is measured as it
 * is. Where nothing is judged, nobody waits.
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
