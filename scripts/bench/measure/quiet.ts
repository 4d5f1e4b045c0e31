import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 300
/** Of a core; browsers that have settled are never quite still. */
const QUIET_SHARE = 0.1
const MOST_WAIT_MS = 30_000

/** Waits until what has this CPU time uses nearly none; how long at most is how long it may disturb. */
export async function whenQuiet(cpuMs: () => number): Promise<void> {
  const deadline = performance.now() + MOST_WAIT_MS
  while (!(await isQuiet(cpuMs)) && performance.now() < deadline);
}

export async function isQuiet(cpuMs: () => number): Promise<boolean> {
  const before = cpuMs()
  await pause(LOOK_MS)
  return cpuMs() - before <= LOOK_MS * QUIET_SHARE
}
