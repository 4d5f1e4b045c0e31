import type { Selectable } from 'kysely'
import type { CredentialProvidersTable } from '../../platform/database/schema.ts'

export type ProviderRecord = Selectable<CredentialProvidersTable>
