import type { Selectable } from 'kysely'
import type { InvocationsTable } from '../../platform/database/schema.ts'

export type InvocationRecord = Selectable<InvocationsTable>
