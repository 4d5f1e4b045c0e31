import type { BrowserPool, BrowserPoolConfig } from '@berth/contracts/browser-pools'
import { shownTelemetry, type Age } from '../telemetry/selection.ts'
import type { CountedPool } from './types.ts'

export function toBrowserPool(
  pool: CountedPool,
  { age, ownRegion }: { age: Age; ownRegion: string },
): BrowserPool {
  const telemetry = shownTelemetry(pool.telemetry, age)
  const { headless = false, stealth = false, kiosk_mode = false, ...rest } = pool.browser
  // SAFETY: the stored request has the shape of the shown config, and the contract filters it.
  const browser = { headless, stealth, kiosk_mode, ...rest } as Partial<BrowserPoolConfig>
  return {
    id: pool.id,
    ...(pool.name !== null && { name: pool.name }),
    available_count: pool.available,
    acquired_count: pool.acquired,
    created_at: pool.created_at,
    region: pool.region ?? ownRegion,
    browser_pool_config: {
      ...browser,
      size: pool.size,
      ...(pool.name !== null && { name: pool.name }),
      fill_rate_per_minute: pool.fill_rate_per_minute,
      timeout_seconds: pool.timeout_seconds,
      ...(pool.browser.profile && { refresh_on_profile_update: pool.refresh_on_profile_update }),
      ...(pool.reset_on_release && { reset_on_release: true }),
      ...(telemetry && { telemetry }),
    },
    extension_ids: pool.extension_ids,
    ...(pool.profile_id !== null && { profile_id: pool.profile_id }),
  }
}
