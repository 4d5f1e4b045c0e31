// Every byte of every session passes this process, so it goes before what runs in them. Without it, a
// browser that answers many messages keeps the processor until its share is used up, and they wait.
import { getPriority, setPriority } from 'node:os'

const AHEAD = -10

export function goAhead(): void {
  try {
    setPriority(AHEAD)
  } catch {
    // Only root may.
  }
}

/** How much lower than ours the ordinary priority is, for what we start and must not go ahead. */
export function stepsToOrdinary(): number {
  return Math.max(0, -getPriority())
}
