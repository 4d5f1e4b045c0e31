// A row of the table: what it compares, and what it needs to be measured.
import type { SessionServers } from '../subjects/session-servers.ts'
import type { ApiSetup } from '../subjects/api-setup.ts'
import type { Cleanup } from '../cleanup.ts'
import type { Compared, Measuring } from '../measure/compare.ts'
import type { Cores } from '../measure/cores.ts'

/** The number of the row in the table of performance goals. */
export interface ApiRow {
  readonly number: number
  readonly title: string
  measure(setup: ApiSetup, measuring: Measuring): AsyncIterable<Compared>
}

export interface ProcessPlace {
  readonly cleanup: Cleanup
  readonly cores: Cores
  /** Servers with sessions, for the rows that need them. */
  readonly servers: SessionServers
}

/** A row that starts and ends its own servers. */
export interface ProcessRow {
  readonly number: number
  readonly title: string
  /** The reason why it cannot be measured on this machine, if any. */
  whySkipped?(): string | undefined
  measureProcesses(place: ProcessPlace, measuring: Measuring): AsyncIterable<Compared>
}

export type Row = ApiRow | ProcessRow
