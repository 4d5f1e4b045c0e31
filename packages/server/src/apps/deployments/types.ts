import type { Selectable } from 'kysely'
import type { GitSource } from '@berth/contracts/app-link'
import type { DeploymentsTable } from '../../platform/database/schema.ts'

export type DeploymentRecord = Selectable<DeploymentsTable>

/** What of a deployment is secret, as it is sealed with its row. */
export interface DeploymentSecrets {
  readonly env: Readonly<Record<string, string>>
  /** The key that its apps call our API with. */
  readonly apiKey: string
  /** For its repository. */
  readonly gitToken?: string
}

/** What a caller asked for, checked and with its defaults filled in. */
export interface NewDeployment {
  readonly version: string
  readonly isForced: boolean
  readonly entrypoint: string
  readonly env: Readonly<Record<string, string>>
  readonly git: GitSource | undefined
}
