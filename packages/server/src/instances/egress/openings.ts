import type { Duplex } from 'node:stream'

/** What one instance may reach beyond what all may reach. */
export interface Openings {
  /** Entries in the format of BERTH_EGRESS_ALLOW. */
  readonly allow: readonly string[]
  /** Receives connections to API_HOST, from inside the instance to our own API. */
  readonly toApi?: (connection: Duplex) => void
}
