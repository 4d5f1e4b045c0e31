import type { Selectable } from 'kysely'
import type { CredentialProvidersTable } from '../db/schema.ts'

export type ProviderRecord = Selectable<CredentialProvidersTable>
