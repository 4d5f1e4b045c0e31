// Tries again what a moment later may succeed: a broken connection, a busy store, a clock that was corrected.
import { pause } from '@berth/kit/pause'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000

export interface Patience {
  /** How long to go on after the first attempt. */
  readonly patienceMs: number
  /** How long one attempt may take. */
  readonly attemptMs: number
  readonly signal: AbortSignal
}

/** The store has confirmed something else than what was sent, or sent something else than what it said. */
export class Corrupted extends Error {}

export async function persist<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { patienceMs, attemptMs, signal }: Patience,
): Promise<T> {
  const until = performance.now() + patienceMs
  for (let number = 0; ; number++) {
    signal.throwIfAborted()
    try {
      return await attempt(AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]))
    } catch (error) {
      signal.throwIfAborted()
      // Servers that lost the same store come back at different times.
      const waitMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** number) * (0.5 + Math.random() / 2)
      if (!isPassing(error) || performance.now() + waitMs > until) throw error
      await pause(waitMs, signal)
    }
  }
}

const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504])
const PASSING_NAMES = new Set(['TimeoutError', 'AbortError', 'RequestTimeout', 'IncompleteBody', 'BadDigest'])
const PASSING_CODES =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|EAI_AGAIN|ENOTFOUND|EADDRNOTAVAIL)/

interface Thrown {
  readonly name?: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean }
}

function isPassing(error: unknown): boolean {
  if (error instanceof Corrupted) return true
  const {
    name = '',
    code = '',
    $metadata: { httpStatusCode: status, clockSkewCorrected } = {},
  } = error as Thrown
  if (clockSkewCorrected === true || PASSING_NAMES.has(name)) return true
  return status === undefined ? PASSING_CODES.test(code) : PASSING_STATUSES.has(status)
}
