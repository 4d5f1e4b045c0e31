import type { Selectable } from 'kysely'
import type { InvocationsTable } from '../db/schema.ts'

export type InvocationRecord = Selectable<InvocationsTable>
