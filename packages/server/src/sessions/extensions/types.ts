import type { Selectable } from 'kysely'
import type { ExtensionsTable } from '../../platform/database/schema.ts'

export type ExtensionRecord = Selectable<ExtensionsTable>

export interface NewExtension {
  readonly id: string
  readonly projectId: string
  readonly name: string | null
  readonly sha256: string
  readonly sizeBytes: number
  readonly manifestName: string
  readonly manifestVersion: string
  readonly blobId: string
  readonly archiveBytes: number
  readonly sealedKey: Buffer
}
