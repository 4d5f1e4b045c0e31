// Which lease of a pooled browser a caller means: the one it names, or the last one that its key got. A request that
// comes late must not end the lease of the next holder.
import type { BrowserRecord } from './types.ts'

/**
 * current: the caller means the lease that runs now. over: it means an earlier one. unknown: its key never leased the
 * browser. none: there is no such lease.
 */
export type LeaseClaim = 'current' | 'over' | 'unknown' | 'none'

type Leased = Pick<BrowserRecord, 'id' | 'lease_number' | 'lease_started' | 'lease_keys'>

/** Who asks, and for what. */
export interface Claimant {
  readonly leaseId: string | undefined
  readonly keyId: string
}

const SHAPE = /^([a-z0-9]+)-([1-9]\d{0,8})$/

/** Names this lease and no other. It is not a secret. */
export function leaseIdOf(browser: Pick<Leased, 'id' | 'lease_number' | 'lease_started'>): string {
  return `${browser.id}-${startOf(browser)}`
}

/** For a browser that is leased. */
export function claimOf(browser: Leased, { leaseId, keyId }: Claimant): LeaseClaim {
  if (leaseId !== undefined) {
    const [, id, number] = SHAPE.exec(leaseId) ?? []
    if (id !== browser.id || Number(number) > browser.lease_number) return 'none'
    return Number(number) === startOf(browser) ? 'current' : 'over'
  }
  // Leased by a server of an earlier version, which does not keep the key.
  if (browser.lease_started === 0) return 'current'
  const last = browser.lease_keys[keyId]
  if (last === undefined) return 'unknown'
  return last === browser.lease_started ? 'current' : 'over'
}

/** The lease number grows again when a release begins, so it does not name the lease. */
function startOf({
  lease_started: started,
  lease_number: now,
}: Pick<Leased, 'lease_started' | 'lease_number'>) {
  return started === 0 ? now : started
}
