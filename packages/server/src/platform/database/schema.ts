// The tables as Kysely sees them. The migrations beside this file are what really makes them.
import type { ColumnType, Generated, GeneratedAlways, Kysely } from 'kysely'
import type { AppAction } from '@berth/contracts/apps'
import type { ConnectionStatus, FlowStatus, FlowStep, FlowType } from '@berth/contracts/auth-connections'
import type { CreateBrowserRequest, EndReason } from '@berth/contracts/browsers'
import type { ProviderType } from '@berth/contracts/credential-providers'
import type { CredentialReference } from '@berth/contracts/credentials'
import type { ConflictRule, SaveState, VersionSource } from '@berth/contracts/profiles'
import type { ProxyConfig, ProxyProtocol, ProxyStatus, ProxyType } from '@berth/contracts/proxies'
import type { DeploymentStatus } from '@berth/contracts/deployments'
import type { InvocationStatus } from '@berth/contracts/invocations'
import type { ProjectStatus } from '@berth/contracts/projects'
import type { ReplayEnd } from '@berth/contracts/replays'
import type { TelemetryRequest } from '@berth/contracts/telemetry'
import type { Category } from '@berth/contracts/telemetry-events'
import type { Question, Requirement } from '@berth/login/run'

/** Read as the API writes it, see time.ts. */
type Time = ColumnType<string, string | Date, string | Date>
/** Set by the database when a row is made. */
type TimeOfMaking = ColumnType<string, string | Date | undefined, string | Date>

/** Set once, by the database or by us, and never changed. */
type Fixed<T> = ColumnType<T, T, never>

/** What each browser of a pool is asked for; the rest of such a request is the pool's, or the lease's. */
export type PooledBrowserRequest = Pick<
  CreateBrowserRequest,
  | 'headless'
  | 'stealth'
  | 'kiosk_mode'
  | 'viewport'
  | 'start_url'
  | 'profile'
  | 'extensions'
  | 'proxy_id'
  | 'chrome_policy'
>

interface OrganizationTable {
  id: Fixed<string>
  default_project_max_concurrent_sessions: number | null
  created_at: TimeOfMaking
}

interface ProjectsTable {
  id: Fixed<string>
  name: string
  status: Generated<ProjectStatus>
  is_default: Generated<boolean>
  max_concurrent_sessions: number | null
  max_concurrent_invocations: number | null
  max_pooled_sessions: number | null
  created_at: TimeOfMaking
  updated_at: TimeOfMaking
  deleted_at: Time | null
}

interface ApiKeysTable {
  id: Fixed<string>
  public_id: Fixed<string>
  secret_hash: Fixed<Buffer>
  masked_key: Fixed<string>
  name: string
  project_id: Fixed<string | null>
  created_by_id: Fixed<string>
  created_by_name: Fixed<string | null>
  created_by_email: Fixed<string>
  lifetime_days: Fixed<number | null>
  created_at: TimeOfMaking
  expires_at: Time | null
  deleted_at: Time | null
  is_of_deployment: Generated<boolean>
}

export interface AuditLogsTable {
  id: GeneratedAlways<string>
  timestamp: ColumnType<string, Date, never>
  project_id: Fixed<string | null>
  key_id: Fixed<string>
  request_id: Fixed<string>
  service: Fixed<string>
  auth_strategy: Fixed<string>
  user_id: Fixed<string>
  email: Fixed<string>
  status: Fixed<number>
  method: Fixed<string>
  path: Fixed<string>
  route: Fixed<string>
  domain: Fixed<string>
  duration_ms: Fixed<number>
  client_ip: Fixed<string>
  user_agent: Fixed<string>
}

interface IdempotencyKeysTable {
  scope: Fixed<string>
  key: Fixed<string>
  request_hash: Buffer
  status: number | null
  /** The answer, sealed; null when it was too large to keep. */
  response: Buffer | null
  created_at: TimeOfMaking
}

interface MasterKeysTable {
  kid: Fixed<string>
  created_at: TimeOfMaking
}

interface BlobsTable {
  id: Fixed<string>
  kind: Fixed<string>
  sha256: Fixed<string>
  size_bytes: Fixed<string>
  created_at: TimeOfMaking
}

interface ServersTable {
  id: Fixed<string>
  started_at: TimeOfMaking
  seen_at: TimeOfMaking
  /** Where other servers reach it; null until it listens. */
  address: string | null
}

export interface BrowsersTable {
  id: string
  project_id: Fixed<string>
  name: string | null
  tags: ColumnType<Record<string, string>, string, string>
  headless: Fixed<boolean>
  stealth: Fixed<boolean>
  gpu: Fixed<boolean>
  kiosk_mode: Fixed<boolean>
  timeout_seconds: number
  standby_after_seconds: Fixed<number | null>
  viewport_width: number
  viewport_height: number
  viewport_refresh_rate: number
  start_url: string | null
  /** Null: what an instance has by itself. */
  locale: Fixed<string | null>
  timezone: Fixed<string | null>
  has_chrome_policy: Fixed<boolean>
  is_starting: Generated<boolean>
  server_id: Fixed<string>
  instance_id: string | null
  /** A bigint, which the driver gives as text. */
  uptime_ms: Generated<string>
  created_at: TimeOfMaking
  deleted_at: Time | null
  end_reason: EndReason | null
  /** Null: nothing is captured. */
  telemetry: Category[] | null
  /** Grows with every change of it. */
  telemetry_version: Generated<number>
  proxy_id: string | null
  is_default_proxy_disabled: Generated<boolean>
  /** Grows with every change of the two; the server that has the session says which one it has seen to. */
  proxy_version: Generated<number>
  proxy_applied_version: Generated<number>
  pool_id: Fixed<string | null>
  /** That of its pool, to be shown and found by. */
  pool_name: string | null
  /** Grows whenever a browser of a pool passes into other hands. */
  tenure: Generated<number>
  /** Null: it waits in its pool, or has none. */
  leased_at: Time | null
  released_at: Time | null
  profile_id: string | null
  /** That it began with, or was last saved as. */
  profile_version: number | null
  profile_save_changes: Generated<boolean>
  profile_on_conflict: ConflictRule | null
  profile_save: SaveState | null
  profile_saved_version: number | null
  profile_save_message: string | null
  invocation_id: string | null
}

export interface ProxiesTable {
  id: Fixed<string>
  project_id: Fixed<string>
  name: string | null
  type: Fixed<ProxyType>
  protocol: Fixed<ProxyProtocol>
  bypass_hosts: Fixed<string[]>
  /** Without what is secret. */
  config: ColumnType<ProxyConfig, string, never>
  /** Sealed. */
  credentials: Buffer | null
  ca_bundle: string | null
  status: ProxyStatus | null
  ip_address: string | null
  last_checked: Time | null
  created_at: TimeOfMaking
  deleted_at: Time | null
}

export interface BrowserPoolsTable {
  id: Fixed<string>
  project_id: Fixed<string>
  name: string | null
  size: number
  fill_rate_per_minute: number
  timeout_seconds: number
  refresh_on_profile_update: boolean
  browser: ColumnType<PooledBrowserRequest, string, string>
  sealed_policy: Buffer | null
  telemetry: Category[] | null
  profile_id: string | null
  extension_ids: string[]
  created_at: TimeOfMaking
  deleted_at: Time | null
}

interface PoolWaitersTable {
  id: GeneratedAlways<string>
  pool_id: Fixed<string>
  alive_until: Time
}

export interface ProfilesTable {
  id: Fixed<string>
  project_id: Fixed<string>
  name: string | null
  current_version: number | null
  last_version: Generated<number>
  created_at: TimeOfMaking
  updated_at: TimeOfMaking
  last_used_at: Time | null
  deleted_at: Time | null
}

export interface ProfileVersionsTable {
  id: Fixed<string>
  profile_id: Fixed<string>
  number: Fixed<number>
  source: Fixed<VersionSource>
  based_on: Fixed<number | null>
  conflicts_with: Fixed<number | null>
  browser_id: Fixed<string | null>
  sealed_key: Buffer
  blob_id: Fixed<string>
  /** Bigints, which the driver gives as text. */
  size_bytes: Fixed<string>
  packed_bytes: Fixed<string>
  created_at: TimeOfMaking
}

/** A bigint, which the driver gives as text. */
type BigNumber = ColumnType<string, string | number | undefined, string | number>
type MaybeBigNumber = ColumnType<string | null, string | number | null | undefined, string | number | null>

interface TelemetrySessionsTable {
  session_id: Fixed<string>
  sealed_key: Buffer
  last_seq: BigNumber
  agent_position: BigNumber
  stored_bytes: BigNumber
  created_at: TimeOfMaking
  ended_at: Time | null
}

interface TelemetrySegmentsTable {
  session_id: Fixed<string>
  first_seq: BigNumber
  last_seq: BigNumber
  first_ts: BigNumber
  last_ts: BigNumber
  categories: number
  payload: Buffer
  created_at: TimeOfMaking
}

interface TelemetryInboxTable {
  id: GeneratedAlways<string>
  session_id: Fixed<string>
  event: ColumnType<unknown, string, never>
  created_at: TimeOfMaking
}

export interface ReplaysTable {
  id: Fixed<string>
  project_id: Fixed<string>
  browser_id: Fixed<string>
  server_id: Fixed<string>
  continues_id: Fixed<string | null>
  framerate: Fixed<number>
  max_duration_seconds: Fixed<number | null>
  state: Generated<'starting' | 'recording' | 'finishing' | 'ready' | 'failed'>
  end_reason: ReplayEnd | null
  created_at: TimeOfMaking
  started_at: Time | null
  finished_at: Time | null
  sealed_key: Buffer
  chapters: Buffer | null
  blob_id: string | null
  /** Bigints, which the driver gives as text. */
  size_bytes: string | null
  duration_ms: string | null
  lost_ms: Generated<string>
}

export interface ExtensionsTable {
  id: Fixed<string>
  project_id: Fixed<string>
  name: Fixed<string | null>
  sha256: Fixed<string>
  /** Bigints, which the driver gives as text. */
  size_bytes: Fixed<string>
  archive_bytes: Fixed<string>
  manifest_name: Fixed<string>
  manifest_version: Fixed<string>
  blob_id: string | null
  sealed_key: Buffer
  created_at: TimeOfMaking
  last_used_at: Time | null
  deleted_at: Time | null
}

interface BrowserPoliciesTable {
  browser_id: Fixed<string>
  sealed: Buffer
  size_bytes: Fixed<number>
}

export interface DeploymentsTable {
  id: Fixed<string>
  project_id: Fixed<string>
  status: Generated<DeploymentStatus>
  status_reason: string | null
  version: Fixed<string>
  is_forced: Fixed<boolean>
  entrypoint: Fixed<string>
  source_type: Fixed<'file' | 'github'>
  source_url: Fixed<string | null>
  source_ref: Fixed<string | null>
  source_path: Fixed<string | null>
  source_checksum: Fixed<string | null>
  sealed_key: Buffer
  env_names: Fixed<string[]>
  secrets: Buffer
  api_key_id: Fixed<string>
  source_blob_id: string | null
  source_bytes: MaybeBigNumber
  built_blob_id: string | null
  built_bytes: MaybeBigNumber
  runtime: 'node' | 'python' | null
  server_id: Fixed<string>
  attempts: Generated<number>
  superseded_by: string | null
  last_event: BigNumber
  queued_at: TimeOfMaking
  created_at: TimeOfMaking
  updated_at: Time | null
}

interface AppVersionsTable {
  id: Fixed<string>
  project_id: Fixed<string>
  deployment_id: Fixed<string>
  app_name: Fixed<string>
  version: Fixed<string>
  actions: ColumnType<AppAction[], string, never>
  created_at: TimeOfMaking
  ended_at: Time | null
}

export interface InvocationsTable {
  id: Fixed<string>
  project_id: Fixed<string>
  deployment_id: Fixed<string>
  app_name: Fixed<string>
  version: Fixed<string>
  action_name: Fixed<string>
  status: Generated<InvocationStatus>
  status_reason: string | null
  timeout_seconds: Fixed<number>
  payload: Fixed<Buffer | null>
  output: Buffer | null
  server_id: string | null
  instance_id: string | null
  last_record: BigNumber
  started_ns: BigNumber
  queued_at: TimeOfMaking
  created_at: TimeOfMaking
  finished_at: Time | null
}

interface AppEventsTable {
  deployment_id: Fixed<string>
  seq: BigNumber
  invocation_id: Fixed<string | null>
  kind: Fixed<'log' | 'deployment_state' | 'app_version_summary' | 'invocation_state'>
  payload: Fixed<Buffer>
  created_at: TimeOfMaking
}

interface AppInstancesTable {
  instance_id: Fixed<string>
  deployment_id: Fixed<string>
  server_id: Fixed<string>
  is_set_up: Generated<boolean>
  created_at: TimeOfMaking
}

export interface CredentialsTable {
  id: Fixed<string>
  project_id: Fixed<string>
  name: string
  domain: Fixed<string>
  sso_provider: string | null
  /** Both sealed. */
  sealed_values: Buffer | null
  sealed_totp: Buffer | null
  created_at: TimeOfMaking
  updated_at: TimeOfMaking
  deleted_at: Time | null
}

export interface CredentialProvidersTable {
  id: Fixed<string>
  name: string
  provider_type: Fixed<ProviderType>
  server_url: string | null
  /** Null: it was deleted. */
  sealed_token: Buffer | null
  is_enabled: Generated<boolean>
  priority: number
  cache_ttl_seconds: number
  created_at: TimeOfMaking
  updated_at: TimeOfMaking
  deleted_at: Time | null
}

export interface AuthConnectionsTable {
  id: Fixed<string>
  project_id: Fixed<string>
  domain: Fixed<string>
  profile_id: Fixed<string>
  status: Generated<ConnectionStatus>
  allowed_domains: string[]
  login_url: string | null
  learned_login_url: string | null
  post_login_url: string | null
  credential: ColumnType<CredentialReference | null, string | null, string | null>
  proxy_id: string | null
  save_credentials: boolean
  record_session: boolean
  health_checks: boolean
  health_check_interval: number
  auto_reauth: boolean
  telemetry: ColumnType<TelemetryRequest | null, string | null, string | null>
  telemetry_age: 'opt-in' | 'opt-out'
  /** Sealed. */
  memory: Buffer | null
  has_plan: Generated<boolean>
  requirements: Requirement[] | null
  sso_provider: string | null
  last_success_at: Time | null
  last_auth_check_at: Time | null
  is_reauth_stopped: Generated<boolean>
  next_check_at: Time | null
  checked_by: string | null
  checked_until: Time | null
  flow_id: string | null
  created_at: TimeOfMaking
  deleted_at: Time | null
}

export interface AuthFlowsTable {
  id: Fixed<string>
  connection_id: Fixed<string>
  type: Fixed<FlowType>
  status: Generated<FlowStatus>
  step: Generated<FlowStep>
  version: Generated<number>
  server_id: string
  expires_at: Time
  deadline_at: Time
  proxy_id: Fixed<string | null>
  is_recorded: Fixed<boolean>
  telemetry: ColumnType<TelemetryRequest | null, string | null, never>
  telemetry_age: Fixed<'opt-in' | 'opt-out'>
  handoff_hash: Buffer | null
  /** Sealed, as are the submission and the outcome. */
  handoff_code: Buffer | null
  question: ColumnType<Question | null, string | null, string | null>
  submission: Buffer | null
  outcome: Buffer | null
  browser_id: string | null
  replay_id: string | null
  telemetry_captured: Generated<boolean>
  website_error: string | null
  error_code: string | null
  error_message: string | null
  sso_provider: string | null
  created_at: TimeOfMaking
  updated_at: TimeOfMaking
  finished_at: Time | null
}

export interface AuthChecksTable {
  id: Fixed<string>
  connection_id: Fixed<string>
  result: Fixed<'in' | 'out' | 'inconclusive'>
  reason: Fixed<string>
  previous_status: Fixed<ConnectionStatus>
  browser_id: Fixed<string | null>
  replay_id: Fixed<string | null>
  telemetry_captured: Generated<boolean>
  created_at: TimeOfMaking
}

interface ServiceSecretsTable {
  name: Fixed<string>
  sealed: Buffer
  created_at: TimeOfMaking
}

export interface Tables {
  servers: ServersTable
  browsers: BrowsersTable
  browser_pools: BrowserPoolsTable
  pool_waiters: PoolWaitersTable
  profiles: ProfilesTable
  profile_versions: ProfileVersionsTable
  service_secrets: ServiceSecretsTable
  organization: OrganizationTable
  projects: ProjectsTable
  api_keys: ApiKeysTable
  audit_logs: AuditLogsTable
  idempotency_keys: IdempotencyKeysTable
  master_keys: MasterKeysTable
  telemetry_sessions: TelemetrySessionsTable
  telemetry_segments: TelemetrySegmentsTable
  telemetry_inbox: TelemetryInboxTable
  blobs: BlobsTable
  extensions: ExtensionsTable
  browser_policies: BrowserPoliciesTable
  replays: ReplaysTable
  proxies: ProxiesTable
  credentials: CredentialsTable
  credential_providers: CredentialProvidersTable
  deployments: DeploymentsTable
  app_versions: AppVersionsTable
  invocations: InvocationsTable
  app_events: AppEventsTable
  app_instances: AppInstancesTable
  auth_connections: AuthConnectionsTable
  auth_flows: AuthFlowsTable
  auth_checks: AuthChecksTable
}

/** The pool, or a transaction of it: stores do not care which. */
export type Db = Kysely<Tables>
