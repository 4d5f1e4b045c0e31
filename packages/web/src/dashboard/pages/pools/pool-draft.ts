// What the form of a pool holds, and the requests that it stands for.
import type {
  BrowserPool,
  CreateBrowserPoolRequest,
  UpdateBrowserPoolRequest,
} from '@berth/contracts/browser-pools'
import { categories } from '@berth/contracts/telemetry-events'
import { emptyDraft, type Draft } from '../sessions/create/draft.ts'
import { requestOf } from '../sessions/create/request.ts'

export interface PoolDraft extends Draft {
  readonly size: string
  readonly fillRate: string
  readonly followsProfile: boolean
  readonly resetOnRelease: boolean
}

export const emptyPoolDraft: PoolDraft = {
  ...emptyDraft,
  headless: true,
  size: '',
  fillRate: '',
  followsProfile: true,
  resetOnRelease: false,
}

export interface DraftedPool {
  readonly request: CreateBrowserPoolRequest
  readonly problems: Readonly<Record<string, string>>
}

export function poolRequestOf(draft: PoolDraft): DraftedPool {
  const { request: session, problems: own } = requestOf(draft)
  const problems: Record<string, string> = { ...own }
  const size = Number(draft.size)
  if (!Number.isInteger(size) || size < 1) problems['size'] = 'must be a whole number, at least 1'
  const fillRate = draft.fillRate.trim() === '' ? undefined : Number(draft.fillRate)
  if (fillRate !== undefined && !Number.isInteger(fillRate)) {
    problems['fill_rate_per_minute'] = 'must be a whole number'
  }
  const { name, timeout_seconds, headless, stealth, kiosk_mode, viewport, start_url } = session
  const { profile, extensions, proxy, network, chrome_policy, telemetry, region } = session
  const request = defined({
    size,
    name,
    fill_rate_per_minute: fillRate,
    timeout_seconds,
    headless,
    stealth,
    kiosk_mode,
    viewport,
    start_url,
    profile,
    refresh_on_profile_update: profile && !draft.followsProfile ? false : undefined,
    extensions,
    proxy_id: proxy?.id,
    network,
    chrome_policy,
    reset_on_release: draft.resetOnRelease ? true : undefined,
    telemetry,
    region,
  }) as CreateBrowserPoolRequest
  return { request, problems }
}

const defined = (object: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

const text = (value: number | undefined) => (value === undefined ? '' : String(value))

export function draftOf({
  browser_pool_config: config,
  region,
  extension_ids: extensions,
}: BrowserPool): PoolDraft {
  return {
    ...emptyPoolDraft,
    name: config.name ?? '',
    size: text(config.size),
    fillRate: text(config.fill_rate_per_minute),
    timeoutSeconds: text(config.timeout_seconds),
    headless: config.headless ?? false,
    stealth: config.stealth ?? false,
    kioskMode: config.kiosk_mode ?? false,
    width: text(config.viewport?.width),
    height: text(config.viewport?.height),
    refreshRate: text(config.viewport?.refresh_rate),
    startUrl: config.start_url ?? '',
    profile: config.profile?.id ?? config.profile?.name ?? '',
    followsProfile: config.refresh_on_profile_update ?? true,
    extensions,
    proxy: config.proxy_id === undefined || config.proxy_id === '' ? '' : `id:${config.proxy_id}`,
    hasPrivateHosts: config.network?.private_hosts !== undefined,
    privateHosts: (config.network?.private_hosts ?? []).join('\n'),
    chromePolicy: config.chrome_policy ? JSON.stringify(config.chrome_policy, null, 2) : '',
    resetOnRelease: config.reset_on_release ?? false,
    region,
    ...(config.telemetry && {
      telemetry: 'on' as const,
      categories: categories.filter((category) => config.telemetry?.browser[category]?.enabled),
    }),
  }
}

/** What to send for a setting that is gone. Names and regions stay. */
const removed: Readonly<Record<string, unknown>> = {
  headless: false,
  stealth: false,
  kiosk_mode: false,
  start_url: '',
  profile: { id: '' },
  refresh_on_profile_update: true,
  extensions: [],
  proxy_id: '',
  network: {},
  chrome_policy: {},
  reset_on_release: false,
  telemetry: { enabled: false },
}

export function changesBetween(
  before: CreateBrowserPoolRequest,
  after: CreateBrowserPoolRequest,
): UpdateBrowserPoolRequest {
  const old = before as Record<string, unknown>
  const next = after as Record<string, unknown>
  const changes: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
    if (name === 'region' || JSON.stringify(old[name]) === JSON.stringify(next[name])) continue
    const value = next[name] ?? removed[name]
    if (value !== undefined) changes[name] = value
  }
  return changes
}
