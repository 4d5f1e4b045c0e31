// When a delivery is tried again: soon at first, then every few hours, for a day.
import type { Attempt } from './types.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** After the first, the second, … failure; the last one repeats. */
const DELAYS_MS = [
  5 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
]
/** The longest wait that a receiver may ask for. */
const MAX_RETRY_AFTER_MS = HOUR
export const GIVE_UP_HOURS = 24

/** The waits after the first, the second, … failure in a row. Never the same moment for all that failed together. */
export function retryDelaysMs(
  { retryAfterMs = 0 }: Pick<Attempt, 'retryAfterMs'>,
  random: () => number = Math.random,
): number[] {
  const spread = 0.8 + random() * 0.2
  const asked = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
  return DELAYS_MS.map((usual) => Math.round(Math.max(usual * spread, asked)))
}

/** Seconds, or a date. */
export function readRetryAfter(text: string | undefined, now = Date.now()): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * SECOND : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
