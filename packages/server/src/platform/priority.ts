// Every byte of every session passes through this process, so it runs at a higher priority. Otherwise a
// busy browser would keep the CPU until its time slice ends, and messages would wait.
import { getPriority, setPriority } from 'node:os'

export const AHEAD = -10

export function goAhead(): void {
  try {
    setPriority(AHEAD)
  } catch {
    // Only root may raise the priority. For a server that root started, the keeper does it.
  }
}

/** How many steps the normal priority is below ours, for child processes that must run at normal priority. */
export function stepsToOrdinary(): number {
  return Math.max(0, -getPriority())
}
