import type { Selectable } from 'kysely'
import type { ReplaysTable } from '../../platform/database/schema.ts'

/** The journal's size is only summed, see store.ts. */
export type ReplayRecord = Omit<Selectable<ReplaysTable>, 'journal_bytes'>

export interface NewReplay {
  readonly id: string
  readonly projectId: string
  readonly browserId: string
  /** The server that runs the session. */
  readonly serverId: string
  readonly continuesId: string | null
  readonly framerate: number
  readonly maxDurationSeconds: number | null
  readonly recordsAudio: boolean
  readonly sealedKey: Buffer
}
