// Moves the memory of a frozen group to swap. The kernel does it in the process that writes the file, for seconds and at
// the cost of a processor. So it is a process of its own, which yields to everybody and can be ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { PageOutFile } from '../cgroup.ts'
import type { Programs } from '../programs.ts'

/**
 * The kernel reports an error when it finds nothing more to move. In a control group of its own, low priority says nothing
 * to other groups, so it rests after each step.
 */
const SCRIPT = `left=$3
while echo "$2" > "$1"; do
  left=$((left - 1))
  [ "$left" -gt 0 ] || exit 0
  sleep 0.05
done
exit 0`
/** Enough for 16 GB in steps of 16 MB. A kernel that takes all in one step needs few: what is left stays. */
const MAX_STEPS = { stepwise: 1024, atOnce: 2 }
const LOWEST_PRIORITY = '39'

/** Resolves when no more can be moved, or soon after the signal has fired. */
export async function pageOut(
  { path, value }: PageOutFile,
  { programs, signal }: { programs: Pick<Programs, 'nice' | 'sh'>; signal: AbortSignal },
): Promise<void> {
  if (signal.aborted) return
  const steps = String(value === '0' ? MAX_STEPS.atOnce : MAX_STEPS.stepwise)
  const args = ['-n', LOWEST_PRIORITY, programs.sh, '-c', SCRIPT, 'berth-page-out', path, value, steps]
  const child = spawn(programs.nice, args, { env: {}, cwd: '/', stdio: 'ignore' })
  const end = () => child.kill('SIGKILL')
  signal.addEventListener('abort', end, { once: true })
  try {
    await once(child, 'exit')
  } finally {
    signal.removeEventListener('abort', end)
  }
}
