// The tables as Kysely sees them. `npm run generate` makes generated-tables.ts with their columns from
// the migrations; this file adds what PostgreSQL does not know.
import type { ColumnType, GeneratedAlways, Kysely } from 'kysely'
import type { AppAction } from '@berth/contracts/apps'
import type { ExportStatus } from '@berth/contracts/audit-exports'
import type { ConnectionStatus, FlowStatus, FlowStep, FlowType } from '@berth/contracts/auth-connections'
import type { CreateBrowserRequest, EndReason } from '@berth/contracts/browsers'
import type { HandoverRowState } from '@berth/contracts/handovers'
import type { ProviderType } from '@berth/contracts/credential-providers'
import type { CredentialReference } from '@berth/contracts/credentials'
import type { ConflictRule, SaveState, VersionSource } from '@berth/contracts/profiles'
import type { ProxyConfig, ProxyMode, ProxyProtocol, ProxyStatus, ProxyType } from '@berth/contracts/proxies'
import type { DeploymentStatus } from '@berth/contracts/deployments'
import type { InvocationStatus } from '@berth/contracts/invocations'
import type { ProjectStatus } from '@berth/contracts/projects'
import type { ReplayEnd } from '@berth/contracts/replays'
import type { Scope } from '@berth/contracts/scopes'
import type { TelemetryRequest } from '@berth/contracts/telemetry'
import type { WebhookEventType } from '@berth/contracts/webhook-event-types'
import type { Quota, WebhookEvent } from '@berth/contracts/webhook-events'
import type { DeliveryState, WebhookStatus } from '@berth/contracts/webhooks'
import type { Category } from '@berth/contracts/telemetry-events'
import type { Question, Requirement } from '@berth/login/run/run'
import type { Refined } from './column-types.ts'
import type { DB } from './generated-tables.ts'

/** The settings each browser of a pool is created with; the pool or the lease sets the rest. */
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
  | 'network'
  | 'chrome_policy'
>

/** Columns with fewer values than their database type allows. Nullable columns stay nullable. */
type ColumnValues = Checked<{
  projects: {
    status: ProjectStatus
  }
  api_keys: {
    /** Null for everything. */
    scopes: Scope[]
  }
  audit_logs: {
    id: GeneratedAlways<string>
    timestamp: ColumnType<string, Date, never>
    /** The database sets it. */
    recorded_at: GeneratedAlways<string>
  }
  audit_export_destinations: {
    status: ExportStatus
  }
  browsers: {
    tags: Record<string, string>
    /** The number of the last lease of each key. */
    lease_keys: Record<string, number>
    state: 'starting' | 'ready' | 'standby' | 'ending' | 'ended'
    /** Null while it runs, or before its server has looked. */
    standby_depth: 'light' | 'deep'
    end_reason: EndReason
    /** Null when nothing is captured. */
    telemetry: Category[]
    profile_on_conflict: ConflictRule
    profile_save: SaveState
  }
  handovers: {
    state: HandoverRowState
  }
  proxies: {
    type: ProxyType
    protocol: ProxyProtocol
    /** Without the secrets. */
    config: ProxyConfig
    status: ProxyStatus
  }
  browser_pools: {
    browser: PooledBrowserRequest
    telemetry: Category[]
  }
  pool_waiters: {
    id: GeneratedAlways<string>
  }
  profile_versions: {
    source: VersionSource
  }
  telemetry_inbox: {
    id: GeneratedAlways<string>
    event: unknown
  }
  telemetry_exports: {
    id: GeneratedAlways<string>
  }
  replays: {
    state: 'starting' | 'recording' | 'finishing' | 'ready' | 'failed'
    end_reason: ReplayEnd
  }
  deployments: {
    status: DeploymentStatus
    source_type: 'file' | 'github'
    runtime: 'node' | 'python'
  }
  app_versions: {
    actions: AppAction[]
  }
  invocations: {
    status: InvocationStatus
  }
  app_events: {
    kind: 'log' | 'deployment_state' | 'app_version_summary' | 'invocation_state'
  }
  credential_providers: {
    provider_type: ProviderType
  }
  auth_connections: {
    status: ConnectionStatus
    proxy_mode: ProxyMode
    credential: CredentialReference
    telemetry: TelemetryRequest
    telemetry_age: 'opt-in' | 'opt-out'
    requirements: Requirement[]
  }
  auth_flows: {
    type: FlowType
    proxy_mode: ProxyMode
    state: Exclude<FlowStep, 'COMPLETED'> | 'SAVING' | Exclude<FlowStatus, 'IN_PROGRESS'>
    /** The flow's current or last step. */
    step: FlowStep
    telemetry: TelemetryRequest
    telemetry_age: 'opt-in' | 'opt-out'
    question: Question
  }
  auth_checks: {
    result: 'in' | 'out' | 'inconclusive'
    previous_status: ConnectionStatus
  }
  webhooks: {
    event_types: WebhookEventType[]
    status: WebhookStatus
    disabled_by: 'user' | 'failures' | 'receiver'
  }
  webhook_deliveries: {
    seq: GeneratedAlways<string>
    data: WebhookEvent['data']
    state: DeliveryState
  }
  webhook_quotas_near: {
    quota: Quota
  }
}>

/** Columns that are set on insert and never updated. */
type SetOnce = CheckedNames<{
  organization: 'id'
  projects: 'id'
  api_keys:
    | 'id'
    | 'public_id'
    | 'secret_hash'
    | 'masked_key'
    | 'project_id'
    | 'created_by_id'
    | 'created_by_name'
    | 'created_by_email'
    | 'lifetime_days'
    | 'scopes'
  audit_logs:
    | 'project_id'
    | 'key_id'
    | 'request_id'
    | 'service'
    | 'auth_strategy'
    | 'user_id'
    | 'email'
    | 'status'
    | 'method'
    | 'path'
    | 'route'
    | 'domain'
    | 'duration_ms'
    | 'client_ip'
    | 'user_agent'
    | 'scope'
  audit_export_destinations: 'id' | 'external_id'
  idempotency_keys: 'scope' | 'key'
  master_keys: 'kid'
  blobs: 'id' | 'kind' | 'sha256' | 'size_bytes'
  servers: 'id'
  browsers:
    | 'project_id'
    | 'headless'
    | 'stealth'
    | 'gpu'
    | 'kiosk_mode'
    | 'standby_after_seconds'
    | 'locale'
    | 'timezone'
    | 'has_chrome_policy'
    | 'pool_id'
    | 'region'
    | 'memory_mb'
    | 'private_hosts'
  proxies: 'id' | 'project_id' | 'type' | 'protocol' | 'bypass_hosts' | 'config'
  browser_pools: 'id' | 'project_id' | 'region'
  pool_waiters: 'pool_id'
  profiles: 'id' | 'project_id'
  profile_versions:
    | 'id'
    | 'profile_id'
    | 'number'
    | 'source'
    | 'based_on'
    | 'conflicts_with'
    | 'browser_id'
    | 'blob_id'
    | 'size_bytes'
    | 'packed_bytes'
  telemetry_sessions: 'session_id'
  telemetry_segments: 'session_id'
  telemetry_inbox: 'session_id' | 'event'
  telemetry_destinations: 'id' | 'project_id'
  telemetry_exports: 'session_id' | 'destination_id'
  replays:
    | 'id'
    | 'project_id'
    | 'browser_id'
    | 'server_id'
    | 'continues_id'
    | 'framerate'
    | 'max_duration_seconds'
    | 'record_audio'
  extensions:
    | 'id'
    | 'project_id'
    | 'name'
    | 'sha256'
    | 'size_bytes'
    | 'archive_bytes'
    | 'manifest_name'
    | 'manifest_version'
  browser_policies: 'browser_id' | 'size_bytes'
  deployments:
    | 'id'
    | 'project_id'
    | 'version'
    | 'is_forced'
    | 'entrypoint'
    | 'source_type'
    | 'source_url'
    | 'source_ref'
    | 'source_path'
    | 'source_checksum'
    | 'env_names'
    | 'api_key_id'
    | 'server_id'
  app_versions: 'id' | 'project_id' | 'deployment_id' | 'app_name' | 'version' | 'actions'
  invocations:
    | 'id'
    | 'project_id'
    | 'deployment_id'
    | 'app_name'
    | 'version'
    | 'action_name'
    | 'timeout_seconds'
    | 'payload'
  app_events: 'deployment_id' | 'invocation_id' | 'kind' | 'payload'
  app_instances: 'instance_id' | 'deployment_id' | 'server_id'
  credentials: 'id' | 'project_id' | 'domain'
  credential_providers: 'id' | 'provider_type'
  auth_connections: 'id' | 'project_id' | 'domain' | 'profile_id'
  auth_flows:
    | 'id'
    | 'connection_id'
    | 'type'
    | 'proxy_id'
    | 'is_recorded'
    | 'telemetry'
    | 'telemetry_age'
    | 'adds_passkey'
  auth_imports: 'flow_id'
  credential_passkeys: 'id' | 'credential_id' | 'rp_id' | 'key_hash'
  auth_checks: 'id' | 'connection_id' | 'result' | 'reason' | 'previous_status' | 'browser_id' | 'replay_id'
  auth_steps: 'entry_id' | 'number' | 'flow_id' | 'check_id'
  service_secrets: 'name'
  webhooks: 'id' | 'project_id'
  webhook_deliveries: 'webhook_id' | 'event_id' | 'event_type' | 'subject' | 'data'
  webhook_attempts: 'delivery_seq' | 'number' | 'started_at' | 'duration_ms' | 'status' | 'answer' | 'error'
  webhook_quotas_near: 'project_id' | 'quota'
}>

// Both types refuse table and column names that do not exist.
type Checked<Values extends { [T in keyof Values]: T extends keyof DB ? Known<Values[T], DB[T]> : never }> =
  Values
type Known<Values, Table> = { [Column in keyof Values]: Column extends keyof Table ? Values[Column] : never }
type CheckedNames<Names extends { [T in keyof Names]: T extends keyof DB ? keyof DB[T] : never }> = Names

export type Tables = {
  [T in keyof DB]: Refined<
    DB[T],
    T extends keyof ColumnValues ? ColumnValues[T] : unknown,
    T extends keyof SetOnce ? SetOnce[T] : never
  >
}

export type AuditLogsTable = Tables['audit_logs']
export type BrowsersTable = Tables['browsers']
export type ProxiesTable = Tables['proxies']
export type BrowserPoolsTable = Tables['browser_pools']
export type ProfilesTable = Tables['profiles']
export type ProfileVersionsTable = Tables['profile_versions']
export type TelemetryDestinationsTable = Tables['telemetry_destinations']
export type ReplaysTable = Tables['replays']
export type ExtensionsTable = Tables['extensions']
export type DeploymentsTable = Tables['deployments']
export type InvocationsTable = Tables['invocations']
export type CredentialsTable = Tables['credentials']
export type CredentialProvidersTable = Tables['credential_providers']
export type AuthConnectionsTable = Tables['auth_connections']
export type CredentialPasskeysTable = Tables['credential_passkeys']
export type AuthFlowsTable = Tables['auth_flows']
export type AuthChecksTable = Tables['auth_checks']
export type WebhooksTable = Tables['webhooks']
export type WebhookDeliveriesTable = Tables['webhook_deliveries']

/** The pool or one of its transactions; stores accept either. */
export type Db = Kysely<Tables>
