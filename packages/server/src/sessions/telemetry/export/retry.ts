// When a delivery is tried again: later and later, and not at the same time as others.
import type { Verdict } from './answer.ts'

const FIRST_MS = 1_000
const MAX_MS = 60_000
/** Somebody has to change something first, so more attempts would only bother the collector. */
const CLOSED_MS = 300_000

export function retryDelayMs(
  verdict: Exclude<Verdict, { kind: 'accepted' }>,
  failuresBefore: number,
  random: () => number = Math.random,
): number {
  const spread = 0.5 + random() / 2
  // Never before the moment that the collector asks for.
  if (verdict.kind === 'busy' && verdict.afterMs !== undefined) {
    return Math.max(verdict.afterMs, FIRST_MS) * (1 + (spread - 0.5) / 5)
  }
  if (verdict.kind === 'closed') return CLOSED_MS * spread
  return Math.min(FIRST_MS * 2 ** Math.min(failuresBefore, 20), MAX_MS) * spread
}
