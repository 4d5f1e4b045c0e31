// When a connection is checked next. The time varies a little, so that connections that were created together do not
// stay in step.
import type { ConnectionRecord } from './types.ts'

const JITTER = 0.1

/** Counted from the last check; null means never. */
export function nextCheck(
  {
    health_checks,
    health_check_interval,
    memory,
    last_auth_check_at,
    last_success_at,
  }: Pick<
    ConnectionRecord,
    'health_checks' | 'health_check_interval' | 'memory' | 'last_auth_check_at' | 'last_success_at'
  >,
  random: () => number = Math.random,
): Date | null {
  // Before the first success, nobody knows how the logged-in page looks.
  if (!health_checks || memory === null) return null
  const last = Math.max(toMs(last_auth_check_at), toMs(last_success_at))
  const spread = 1 - JITTER / 2 + JITTER * random()
  return new Date(last + health_check_interval * spread * 1000)
}

const toMs = (time: string | null) => (time === null ? 0 : Date.parse(time))
