// What connections want of those who keep credentials.
import type { CredentialReference } from '@berth/contracts/auth-connections'
import type { KnownValues } from '@berth/login/run'
import type { Db } from '../db/schema.ts'
import { invalidInput } from '../errors.ts'
import type { ConnectionRecord } from './types.ts'

/** Of a stored credential, without a value. */
export interface CredentialSummary {
  readonly id: string
  readonly name: string
  readonly valueKeys: readonly string[]
  readonly hasTotpSecret: boolean
}

/** What was typed in a login that succeeded. */
export interface TypedValues {
  readonly projectId: string
  /** Into which it is merged; undefined makes another one. */
  readonly credentialId: string | undefined
  /** For one that is made. */
  readonly name: string
  readonly domain: string
  readonly values: Readonly<Record<string, string>>
  readonly ssoProvider: string | undefined
}

/** As the row of a connection names one. */
export type KeptReference =
  | { readonly credentialId: string }
  | { readonly provider: string; readonly path: string | null }

export interface ConnectionCredentials {
  /** Throws for a name that is none of the project's. */
  findByName(db: Db, projectId: string, name: string): Promise<CredentialSummary>
  /** Throws for a name that is none of the organisation's. */
  checkProvider(db: Db, name: string): Promise<void>
  /** By their ids; those that are no more are missing. */
  summaries(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, CredentialSummary>>
  /** For a login; undefined when there is none any more. */
  known(
    wanted: { projectId: string; domain: string; reference: KeptReference },
    signal: AbortSignal,
  ): Promise<KnownValues | undefined>
  /** The id of the credential that has them now; never with a one-time code among them. */
  keep(tx: Db, typed: TypedValues): Promise<string>
}

export interface ReferenceColumns {
  readonly credential_id: string | null
  readonly credential_provider: string | null
  readonly credential_path: string | null
}

export const noReference: ReferenceColumns = {
  credential_id: null,
  credential_provider: null,
  credential_path: null,
}

/** Checked, as columns of a row. */
export async function readReference(
  credentials: ConnectionCredentials,
  db: Db,
  projectId: string,
  reference: CredentialReference,
): Promise<ReferenceColumns> {
  const { name, provider, path, auto } = reference
  const isOwn = name !== undefined && provider === undefined && path === undefined && auto === undefined
  if (isOwn) {
    const { id } = await credentials.findByName(db, projectId, name)
    return { ...noReference, credential_id: id }
  }
  const isExternal = name === undefined && provider !== undefined && (path !== undefined) !== (auto === true)
  if (!isExternal) {
    throw invalidInput('credential', 'must be one of {name}, {provider, path} and {provider, auto: true}')
  }
  await credentials.checkProvider(db, provider)
  return { ...noReference, credential_provider: provider, credential_path: path ?? null }
}

export function referenceOf(record: ReferenceColumns): KeptReference | undefined {
  if (record.credential_id !== null) return { credentialId: record.credential_id }
  if (record.credential_provider === null) return undefined
  return { provider: record.credential_provider, path: record.credential_path }
}

/** As the API shows it; absent when the credential is no more. */
export function shownReference(
  record: ConnectionRecord,
  summary: CredentialSummary | undefined,
): CredentialReference | undefined {
  const kept = referenceOf(record)
  if (!kept) return undefined
  if ('credentialId' in kept) return summary && { name: summary.name }
  const { provider, path } = kept
  return path === null ? { provider, auto: true } : { provider, path }
}
