import type { Duplex } from 'node:stream'

/** What is open to one instance besides what is open to all. */
export interface Openings {
  /** Entries as of BERTH_EGRESS_ALLOW. */
  readonly allow: readonly string[]
  /** Takes connections to API_HOST: the way from inside to our own API. */
  readonly toApi?: (connection: Duplex) => void
}
