import type { SessionServers } from '../arms/session-servers.ts'
import type { Stage } from '../arms/stage.ts'
import type { Cleanup } from '../cleanup.ts'
import type { Compared, Measuring } from '../measure/compare.ts'
import type { Cores } from '../measure/cores.ts'

/** Numbers are those of the table in the performance goals. */
export interface StageRow {
  readonly number: number
  readonly title: string
  measure(stage: Stage, measuring: Measuring): AsyncIterable<Compared>
}

export interface ProcessPlace {
  readonly cleanup: Cleanup
  readonly cores: Cores
  /** With sessions, for the rows that need them. */
  readonly servers: SessionServers
}

/** A row that starts and ends servers of its own. */
export interface ProcessRow {
  readonly number: number
  readonly title: string
  /** Why it cannot be measured on this machine, if so. */
  whySkipped?(): string | undefined
  measureProcesses(place: ProcessPlace, measuring: Measuring): AsyncIterable<Compared>
}

export type Row = StageRow | ProcessRow
