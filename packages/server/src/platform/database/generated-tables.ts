// Made by `npm run generate`, of migrations a12cde4aa4a37541cf4e62c232231d39f0bebfbc773b95445a69cb8dc782eb92.
import type { BigNumber, Json, Time } from './column-types.ts'
import type { ColumnType } from 'kysely'

export type Generated<T> =
  T extends ColumnType<infer S, infer I, infer U>
    ? ColumnType<S, I | undefined, U>
    : ColumnType<T, T | undefined, T>

export interface ApiKeys {
  created_at: Generated<Time>
  created_by_email: string
  created_by_id: string
  created_by_name: string | null
  deleted_at: Time | null
  expires_at: Time | null
  expiry_told_at: Time | null
  id: string
  is_of_deployment: Generated<boolean>
  lifetime_days: number | null
  maker_id: string | null
  masked_key: string
  name: string
  project_id: string | null
  public_id: string
  scopes: string[] | null
  secret_hash: Buffer
}

export interface AppEvents {
  created_at: Generated<Time>
  deployment_id: string
  invocation_id: string | null
  kind: string
  payload: Buffer
  seq: BigNumber
}

export interface AppInstances {
  created_at: Generated<Time>
  deployment_id: string
  instance_id: string
  is_set_up: Generated<boolean>
  server_id: string
}

export interface AppVersions {
  actions: Json
  app_name: string
  created_at: Generated<Time>
  deployment_id: string
  ended_at: Time | null
  id: string
  project_id: string
  version: string
}

export interface AuditExportDestinations {
  access_key_id: string | null
  after_at: Time | null
  after_id: BigNumber | null
  bucket: string
  chunk: Generated<number>
  consecutive_failures: Generated<number>
  created_at: Generated<Time>
  deleted_at: Time | null
  due_at: Time | null
  endpoint: string | null
  external_id: string
  id: string
  kms_key_id: string | null
  last_error: string | null
  last_error_at: Time | null
  last_exported_cursor: string | null
  last_success_at: Time | null
  lease_id: string | null
  lease_server: string | null
  lease_until: Time | null
  next_attempt_at: Time | null
  pending: Generated<string>
  prefix: string
  region: string
  revision: Generated<number>
  role_arn: string | null
  sealed_secret: Buffer | null
  status: Generated<string>
  tested_revision: number | null
  updated_at: Generated<Time>
  window_end: Time | null
}

export interface AuditLogs {
  auth_strategy: string
  client_ip: string
  domain: string
  duration_ms: number
  email: string
  id: Generated<BigNumber>
  key_id: string
  method: string
  path: string
  project_id: string | null
  recorded_at: Generated<Time>
  request_id: string
  route: string
  scope: Generated<string>
  service: string
  status: number
  timestamp: Time
  user_agent: string
  user_id: string
}

export interface AuthChecks {
  browser_id: string | null
  connection_id: string
  created_at: Generated<Time>
  id: string
  previous_status: string
  reason: string
  replay_id: string | null
  result: string
  telemetry_captured: Generated<boolean>
}

export interface AuthConnections {
  allowed_domains: Generated<string[]>
  auto_reauth: boolean
  checked_by: string | null
  checked_until: Time | null
  created_at: Generated<Time>
  credential: Json | null
  deleted_at: Time | null
  domain: string
  flow_id: string | null
  has_plan: Generated<boolean>
  health_check_interval: number
  health_checks: boolean
  id: string
  is_reauth_stopped: Generated<boolean>
  last_auth_check_at: Time | null
  last_success_at: Time | null
  learned_login_url: string | null
  login_url: string | null
  memory: Buffer | null
  next_check_at: Time | null
  post_login_url: string | null
  profile_id: string
  project_id: string
  proxy_id: string | null
  proxy_mode: string | null
  record_session: boolean
  redirect_urls: Generated<string[]>
  requirements: string[] | null
  save_credentials: boolean
  sealed_captcha_solver: Buffer | null
  sso_provider: string | null
  status: Generated<string>
  stealth: Generated<boolean>
  telemetry: Json | null
  telemetry_age: string
}

export interface AuthFlows {
  adds_passkey: Generated<boolean>
  browser_id: string | null
  connection_id: string
  created_at: Generated<Time>
  deadline_at: Time
  error_code: string | null
  error_message: string | null
  expires_at: Time
  finished_at: Time | null
  handoff_code: Buffer | null
  handoff_hash: Buffer | null
  id: string
  is_handoff_used: Generated<boolean>
  is_recorded: boolean
  outcome: Buffer | null
  proxy_id: string | null
  proxy_mode: string | null
  question: Json | null
  replay_id: string | null
  save_as: string | null
  server_id: string
  sso_provider: string | null
  state: Generated<string>
  stealth: Generated<boolean>
  step: Generated<string>
  submission: Buffer | null
  telemetry: Json | null
  telemetry_age: string
  telemetry_captured: Generated<boolean>
  type: string
  updated_at: Generated<Time>
  version: Generated<number>
  website_error: string | null
}

export interface AuthImports {
  flow_id: string
  sealed_session: Buffer
}

export interface AuthSteps {
  check_id: string | null
  created_at: Generated<Time>
  entry_id: string
  flow_id: string | null
  number: number
  sealed: Buffer
  sealed_page: Buffer | null
}

export interface Blobs {
  created_at: Generated<Time>
  id: string
  kind: string
  sha256: string
  size_bytes: BigNumber
  store: string | null
}

export interface BlobStores {
  created_at: Generated<Time>
  id: string
  is_remote: boolean
  location: string
  swept_at: Time | null
}

export interface BrowserPolicies {
  browser_id: string
  sealed: Buffer
  size_bytes: number
}

export interface BrowserPools {
  browser: Json
  created_at: Generated<Time>
  deleted_at: Time | null
  extension_ids: Generated<string[]>
  fill_rate_per_minute: number
  id: string
  name: string | null
  profile_id: string | null
  project_id: string
  refresh_on_profile_update: boolean
  region: string | null
  reset_on_release: Generated<boolean>
  sealed_policy: Buffer | null
  size: number
  telemetry: string[] | null
  timeout_seconds: number
}

export interface Browsers {
  created_at: Generated<Time>
  deleted_at: Time | null
  end_reason: string | null
  ended_at: Time | null
  gpu: boolean
  has_chrome_policy: Generated<boolean>
  headless: boolean
  id: string
  instance_id: string | null
  invocation_id: string | null
  is_default_proxy_disabled: Generated<boolean>
  kiosk_mode: boolean
  last_wake_ms: number | null
  lease_keys: Generated<Json>
  lease_number: Generated<number>
  lease_started: Generated<number>
  leased_at: Time | null
  locale: string | null
  memory_mb: number | null
  name: string | null
  pool_id: string | null
  pool_name: string | null
  private_hosts: string[] | null
  profile_id: string | null
  profile_on_conflict: string | null
  profile_save: string | null
  profile_save_changes: Generated<boolean>
  profile_save_message: string | null
  profile_saved_version: number | null
  profile_version: number | null
  project_id: string
  proxy_applied_version: Generated<number>
  proxy_id: string | null
  proxy_version: Generated<number>
  region: string | null
  released_at: Time | null
  resident_bytes: BigNumber | null
  server_id: string
  standby_after_seconds: number | null
  standby_depth: string | null
  start_url: string | null
  state: Generated<string>
  stealth: boolean
  tags: Generated<Json>
  telemetry: string[] | null
  telemetry_destination_id: string | null
  telemetry_version: Generated<number>
  timeout_seconds: number
  timezone: string | null
  uptime_ms: Generated<BigNumber>
  viewport_height: number
  viewport_refresh_rate: number
  viewport_width: number
}

export interface CredentialPasskeys {
  created_at: Generated<Time>
  credential_id: string
  deleted_at: Time | null
  id: string
  key_hash: Buffer
  last_used_at: Time | null
  rp_id: string
  sealed_key: Buffer | null
  sign_count: BigNumber
}

export interface CredentialProviders {
  cache_ttl_seconds: number
  created_at: Generated<Time>
  deleted_at: Time | null
  id: string
  is_enabled: Generated<boolean>
  name: string
  priority: number
  project_ids: Generated<string[]>
  provider_type: string
  sealed_token: Buffer | null
  server_url: string | null
  updated_at: Generated<Time>
}

export interface Credentials {
  allowed_domains: Generated<string[]>
  created_at: Generated<Time>
  deleted_at: Time | null
  domain: string
  id: string
  name: string
  project_id: string
  sealed_mailbox: Buffer | null
  sealed_totp: Buffer | null
  sealed_values: Buffer | null
  sso_provider: string | null
  updated_at: Generated<Time>
}

export interface Deployments {
  api_key_id: string
  attempts: Generated<number>
  built_blob_id: string | null
  built_bytes: BigNumber | null
  created_at: Generated<Time>
  entrypoint: string
  env_names: string[]
  id: string
  is_forced: boolean
  last_event: Generated<BigNumber>
  project_id: string
  queued_at: Generated<Time>
  runtime: string | null
  sealed_key: Buffer
  secrets: Buffer
  server_id: string
  source_blob_id: string | null
  source_bytes: BigNumber | null
  source_checksum: string | null
  source_path: string | null
  source_ref: string | null
  source_type: string
  source_url: string | null
  status: Generated<string>
  status_reason: string | null
  superseded_by: string | null
  updated_at: Time | null
  version: string
}

export interface Extensions {
  archive_bytes: BigNumber
  blob_id: string | null
  created_at: Generated<Time>
  deleted_at: Time | null
  id: string
  last_used_at: Time | null
  manifest_name: string
  manifest_version: string
  name: string | null
  project_id: string
  sealed_key: Buffer
  sha256: string
  size_bytes: BigNumber
}

export interface Handovers {
  browser_id: string
  created_at: Generated<Time>
  expires_at: Time
  finished_at: Time | null
  id: string
  lease_number: number
  message: string
  note: string | null
  sealed_message: Buffer | null
  sealed_note: Buffer | null
  state: Generated<string>
}

export interface IdempotencyKeys {
  created_at: Generated<Time>
  key: string
  request_hash: Buffer
  response: Buffer | null
  scope: string
  status: number | null
}

export interface Invocations {
  action_name: string
  app_name: string
  created_at: Generated<Time>
  deployment_id: string
  finished_at: Time | null
  id: string
  instance_id: string | null
  last_record: Generated<BigNumber>
  output: Buffer | null
  payload: Buffer | null
  project_id: string
  queued_at: Generated<Time>
  sent_to: string | null
  server_id: string | null
  started_ns: BigNumber
  status: Generated<string>
  status_reason: string | null
  timeout_seconds: number
  version: string
}

export interface MasterKeys {
  created_at: Generated<Time>
  kid: string
}

export interface Organization {
  created_at: Generated<Time>
  default_project_max_concurrent_sessions: number | null
  id: string
}

export interface PoolWaiters {
  alive_until: Time
  id: Generated<BigNumber>
  pool_id: string
}

export interface Profiles {
  created_at: Generated<Time>
  current_version: number | null
  deleted_at: Time | null
  id: string
  last_used_at: Time | null
  last_version: Generated<number>
  name: string | null
  project_id: string
  updated_at: Generated<Time>
}

export interface ProfileVersions {
  based_on: number | null
  blob_id: string
  browser_id: string | null
  conflicts_with: number | null
  created_at: Generated<Time>
  id: string
  number: number
  packed_bytes: BigNumber
  profile_id: string
  sealed_key: Buffer
  size_bytes: BigNumber
  source: string
}

export interface Projects {
  created_at: Generated<Time>
  deleted_at: Time | null
  id: string
  is_default: Generated<boolean>
  max_concurrent_invocations: number | null
  max_concurrent_sessions: number | null
  max_pooled_sessions: number | null
  max_storage_bytes: BigNumber | null
  name: string
  status: Generated<string>
  updated_at: Generated<Time>
}

export interface Proxies {
  bypass_hosts: string[]
  ca_bundle: string | null
  config: Json
  created_at: Generated<Time>
  credentials: Buffer | null
  deleted_at: Time | null
  id: string
  ip_address: string | null
  last_checked: Time | null
  name: string | null
  project_id: string
  protocol: string
  sealed_ca_bundle: Buffer | null
  status: string | null
  type: string
}

export interface Replays {
  blob_id: string | null
  browser_id: string
  chapters: Buffer | null
  continues_id: string | null
  created_at: Generated<Time>
  duration_ms: BigNumber | null
  end_reason: string | null
  finished_at: Time | null
  framerate: number
  id: string
  journal_bytes: Generated<BigNumber>
  links_valid_from: Time | null
  lost_ms: Generated<BigNumber>
  max_duration_seconds: number | null
  project_id: string
  record_audio: Generated<boolean>
  sealed_key: Buffer
  server_id: string
  size_bytes: BigNumber | null
  started_at: Time | null
  state: Generated<string>
}

export interface Servers {
  address: string | null
  app_store: string | null
  blob_store: string | null
  id: string
  region: string | null
  room: number | null
  seen_at: Generated<Time>
  started_at: Generated<Time>
}

export interface ServiceSecrets {
  created_at: Generated<Time>
  name: string
  sealed: Buffer
}

export interface SignIns {
  created_at: Generated<Time>
  expires_at: Time
  id: string
  key_id: string
  secret_hash: Buffer
}

export interface TelemetryDestinations {
  consecutive_failures: Generated<number>
  created_at: Generated<Time>
  deleted_at: Time | null
  delivered_events: Generated<BigNumber>
  description: string | null
  endpoint: string
  expired_events: Generated<BigNumber>
  header_names: Generated<string[]>
  id: string
  last_error: string | null
  last_error_at: Time | null
  last_success_at: Time | null
  leased_until: Time | null
  name: string
  name_key: string
  next_attempt_at: Time | null
  project_id: string
  rejected_events: Generated<BigNumber>
  sealed_headers: Buffer | null
  server_id: string | null
  updated_at: Generated<Time>
  version: Generated<number>
}

export interface TelemetryExports {
  cursor: BigNumber
  destination_id: string
  expired: Generated<BigNumber>
  id: Generated<BigNumber>
  session_id: string
  tried_at: Generated<Time>
  until_seq: BigNumber | null
}

export interface TelemetryInbox {
  created_at: Generated<Time>
  event: Json
  id: Generated<BigNumber>
  session_id: string
}

export interface TelemetrySegments {
  categories: number
  created_at: Generated<Time>
  first_seq: BigNumber
  first_ts: BigNumber
  last_seq: BigNumber
  last_ts: BigNumber
  payload: Buffer
  session_id: string
}

export interface TelemetrySessions {
  agent_position: Generated<BigNumber>
  created_at: Generated<Time>
  ended_at: Time | null
  last_seq: Generated<BigNumber>
  project_id: string | null
  sealed_key: Buffer
  session_id: string
  stored_bytes: Generated<BigNumber>
}

export interface WebhookAttempts {
  answer: string | null
  delivery_seq: BigNumber
  duration_ms: number
  error: string | null
  number: number
  started_at: Time
  status: number | null
}

export interface WebhookDeliveries {
  attempts: Generated<number>
  created_at: Generated<Time>
  data: Json
  event_id: string
  event_type: string
  failures: Generated<number>
  finished_at: Time | null
  lease_id: string | null
  lease_server: string | null
  lease_until: Time | null
  next_attempt_at: Generated<Time>
  seq: Generated<BigNumber>
  state: Generated<string>
  subject: string
  tried_from: Generated<Time>
  webhook_id: string
}

export interface WebhookQuotasNear {
  project_id: string
  quota: string
  told_at: Generated<Time>
}

export interface Webhooks {
  consecutive_failures: Generated<number>
  created_at: Generated<Time>
  deleted_at: Time | null
  description: string | null
  disabled_by: string | null
  dropped_events: Generated<BigNumber>
  event_types: Generated<string[]>
  failing_since: Time | null
  id: string
  last_dropped_at: Time | null
  last_error: string | null
  last_error_at: Time | null
  last_success_at: Time | null
  old_secret_until: Time | null
  project_id: string
  sealed_old_secret: Buffer | null
  sealed_secret: Buffer | null
  status: Generated<string>
  updated_at: Generated<Time>
  url: string
  version: Generated<number>
}

export interface WebhookWatch {
  is_only: Generated<boolean>
  looked_at: Generated<Time>
}

export interface DB {
  api_keys: ApiKeys
  app_events: AppEvents
  app_instances: AppInstances
  app_versions: AppVersions
  audit_export_destinations: AuditExportDestinations
  audit_logs: AuditLogs
  auth_checks: AuthChecks
  auth_connections: AuthConnections
  auth_flows: AuthFlows
  auth_imports: AuthImports
  auth_steps: AuthSteps
  blob_stores: BlobStores
  blobs: Blobs
  browser_policies: BrowserPolicies
  browser_pools: BrowserPools
  browsers: Browsers
  credential_passkeys: CredentialPasskeys
  credential_providers: CredentialProviders
  credentials: Credentials
  deployments: Deployments
  extensions: Extensions
  handovers: Handovers
  idempotency_keys: IdempotencyKeys
  invocations: Invocations
  master_keys: MasterKeys
  organization: Organization
  pool_waiters: PoolWaiters
  profile_versions: ProfileVersions
  profiles: Profiles
  projects: Projects
  proxies: Proxies
  replays: Replays
  servers: Servers
  service_secrets: ServiceSecrets
  sign_ins: SignIns
  telemetry_destinations: TelemetryDestinations
  telemetry_exports: TelemetryExports
  telemetry_inbox: TelemetryInbox
  telemetry_segments: TelemetrySegments
  telemetry_sessions: TelemetrySessions
  webhook_attempts: WebhookAttempts
  webhook_deliveries: WebhookDeliveries
  webhook_quotas_near: WebhookQuotasNear
  webhook_watch: WebhookWatch
  webhooks: Webhooks
}
