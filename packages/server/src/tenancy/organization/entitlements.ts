import type { Entitlements } from '@berth/contracts/entitlements'
import { MAX_CHECK_SECONDS } from '@berth/contracts/auth-connections'
import type { Config } from '../../config/config.ts'

const USUAL_CHECK_SECONDS = 3_600

type Settings = Pick<
  Config,
  | 'BERTH_HEALTH_CHECK_MIN_SECONDS'
  | 'BERTH_MAX_CONCURRENT_INVOCATIONS'
  | 'BERTH_MAX_CONCURRENT_SESSIONS'
  | 'BERTH_PROXY_PROVIDERS'
  | 'BERTH_REPLAY_RETENTION_DAYS'
>

/** Nothing is sold here: what is built and set up is enabled, and the rest is not. */
export function entitlementsOf(config: Settings, { hasGpu }: { hasGpu: boolean }): Entitlements {
  const minCheckSeconds = config.BERTH_HEALTH_CHECK_MIN_SECONDS
  const on = { enabled: true }
  const off = { enabled: false }
  return {
    plan: {
      id: 'ENTERPRISE',
      effective_id: 'ENTERPRISE',
      is_trialing: false,
      status: 'ACTIVE',
      trial_ends_at: null,
    },
    features: {
      browser_extensions: { enabled: true, max_stored_per_org: null },
      browser_pools: on,
      browser_replays: { enabled: true, retention_days: config.BERTH_REPLAY_RETENTION_DAYS },
      credential_providers: on,
      credentials: on,
      custom_proxies: on,
      file_io: on,
      gpu: { enabled: hasGpu },
      managed_auth: {
        enabled: true,
        max_connections: null,
        health_check_interval_min_seconds: minCheckSeconds,
        health_check_interval_default_seconds: Math.max(USUAL_CHECK_SECONDS, minCheckSeconds),
        health_check_interval_max_seconds: MAX_CHECK_SECONDS,
      },
      managed_proxies: { enabled: config.BERTH_PROXY_PROVIDERS.size > 0 },
      profiles: on,
      proxy_bypass_hosts: on,
      vaults: off,
    },
    limits: {
      max_concurrent_browsers: config.BERTH_MAX_CONCURRENT_SESSIONS,
      max_concurrent_invocations: config.BERTH_MAX_CONCURRENT_INVOCATIONS,
      default_max_concurrent_invocations_per_app: config.BERTH_MAX_CONCURRENT_INVOCATIONS,
    },
  }
}
