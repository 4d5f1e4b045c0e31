import type { Selectable } from 'kysely'
import type { GitSource } from '@berth/contracts/app-link'
import type { DeploymentsTable } from '../../platform/database/schema.ts'

export type DeploymentRecord = Selectable<DeploymentsTable>

/** The secrets of a deployment, sealed with its row. */
export interface DeploymentSecrets {
  readonly env: Readonly<Record<string, string>>
  /** The key with which its apps call our API. */
  readonly apiKey: string
  /** The token for its repository. */
  readonly gitToken?: string
}

/** The caller's request, validated and with defaults filled in. */
export interface NewDeployment {
  readonly version: string
  readonly isForced: boolean
  readonly entrypoint: string
  readonly env: Readonly<Record<string, string>>
  readonly git: GitSource | undefined
}
