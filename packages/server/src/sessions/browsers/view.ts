// A session as the API shows it. Each URL has its own token and starts with BERTH_PUBLIC_URL or the address that the
// caller used.
import type { Browser } from '@berth/contracts/browsers'
import type { ChromePolicy } from '@berth/contracts/chrome-policy'
import type { Profile, ProfileSave } from '@berth/contracts/profiles'
import type { ProxySelection } from '@berth/contracts/proxies'
import { hasScope, type Principal } from '../../http/principal.ts'
import { LIVE_PATH, liveAudiences, PLAYWRIGHT_PATH } from '../session/target.ts'
import { shownTelemetry, type Age } from '../telemetry/selection.ts'
import { leaseIdOf } from './lease-claim.ts'
import type { LiveSession } from './live-session.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { SessionMemory } from './memory.ts'
import { isOver } from './state.ts'
import type { BrowserRecord } from './types.ts'

export interface TokenSigner {
  sign(claims: { sessionId: string; leaseNumber: number; audience: readonly string[] }): string
}

/** Data shown with sessions but stored elsewhere: profiles and proxies by their ids, policies by session id. */
export interface Belongings {
  readonly profiles: ReadonlyMap<string, Profile>
  readonly proxyNames: ReadonlyMap<string, string>
  readonly policies: ReadonlyMap<string, ChromePolicy>
}

export class BrowserView {
  readonly #tokens: TokenSigner
  readonly #live: Pick<LiveSessions, 'find'>
  readonly #memory: Pick<SessionMemory, 'shown'>
  readonly #region: string

  constructor(options: {
    tokens: TokenSigner
    live: Pick<LiveSessions, 'find'>
    memory: Pick<SessionMemory, 'shown'>
    region: string
  }) {
    this.#tokens = options.tokens
    this.#live = options.live
    this.#memory = options.memory
    this.#region = options.region
  }

  show(
    record: BrowserRecord,
    caller: { origin: string; telemetryAge: Age; principal: Principal },
    { profiles, proxyNames, policies }: Belongings,
  ): Browser {
    const { id: sessionId } = record
    const profile = record.profile_id === null ? undefined : profiles.get(record.profile_id)
    const policy = policies.get(sessionId)
    const save = toSave(record)
    const telemetry = shownTelemetry(record.telemetry, caller.telemetryAge, record.telemetry_destination_id)
    return {
      session_id: sessionId,
      created_at: record.created_at,
      // Whoever has one of these URLs controls the session. Clients require the first two.
      ...(hasScope(caller.principal, 'browsers:write')
        ? this.#urlsOf(record, caller.origin)
        : { cdp_ws_url: '', webdriver_ws_url: '' }),
      headless: record.headless,
      stealth: record.stealth,
      gpu: record.gpu,
      timeout_seconds: record.timeout_seconds,
      region: record.region ?? this.#region,
      memory: this.#memory.shown(record),
      proxy: toProxySelection(record, proxyNames),
      ...(record.private_hosts && { network: { private_hosts: record.private_hosts } }),
      viewport: {
        width: record.viewport_width,
        height: record.viewport_height,
        refresh_rate: record.viewport_refresh_rate,
      },
      kiosk_mode: record.kiosk_mode,
      ...useOf(record, this.#live.find(sessionId)),
      ...(telemetry && { telemetry }),
      ...(profile && { profile, profile_save_changes: record.profile_save_changes }),
      ...(save && { profile_save: save }),
      ...(record.standby_after_seconds !== null && { standby_after_seconds: record.standby_after_seconds }),
      ...(record.name !== null && { name: record.name }),
      ...(Object.keys(record.tags).length > 0 && { tags: record.tags }),
      ...(record.start_url !== null && { start_url: record.start_url }),
      ...(record.proxy_id !== null && { proxy_id: record.proxy_id }),
      ...(record.locale !== null && { locale: record.locale }),
      ...(record.timezone !== null && { timezone: record.timezone }),
      ...(policy && { chrome_policy: policy }),
      state: isOver(record) ? 'ended' : record.state === 'standby' ? 'standby' : 'ready',
      ...(record.deleted_at !== null && { deleted_at: record.deleted_at }),
      ...(record.end_reason !== null && { end_reason: record.end_reason }),
      ...(record.pool_id !== null && {
        pool: { id: record.pool_id, ...(record.pool_name !== null && { name: record.pool_name }) },
      }),
      ...(record.leased_at !== null && { lease_id: leaseIdOf(record) }),
    }
  }

  #urlsOf(
    { id: sessionId, lease_number: leaseNumber, headless }: BrowserRecord,
    origin: string,
  ): Pick<
    Browser,
    'cdp_ws_url' | 'webdriver_ws_url' | 'playwright_ws_url' | 'browser_live_view_url' | 'base_url'
  > {
    const token = (...audience: string[]) => this.#tokens.sign({ sessionId, leaseNumber, audience })
    const wsOrigin = origin.replace(/^http/, 'ws')
    return {
      cdp_ws_url: `${wsOrigin}/browser/cdp?jwt=${token('cdp', 'control')}`,
      webdriver_ws_url: `${wsOrigin}/browser/webdriver/session?jwt=${token('bidi')}`,
      playwright_ws_url: `${wsOrigin}${PLAYWRIGHT_PATH}?jwt=${token('playwright')}`,
      ...(!headless && {
        browser_live_view_url: `${origin}${LIVE_PATH}?jwt=${token(liveAudiences.control)}`,
      }),
      base_url: `${origin}/browser/kernel`,
    }
  }
}

/** The session itself knows best. The row has what its server wrote a moment ago. */
function useOf(
  record: BrowserRecord,
  live: Pick<LiveSession, 'uptimeMs' | 'depth' | 'memory' | 'lastWakeMs'> | undefined,
): Pick<Browser, 'standby' | 'usage'> {
  const depth = (live ? live.depth : record.standby_depth) ?? 'light'
  const bytes = live ? live.memory?.residentBytes : (record.resident_bytes ?? undefined)
  const wakeMs = live?.lastWakeMs ?? record.last_wake_ms
  return {
    ...(record.state === 'standby' && { standby: depth }),
    usage: {
      uptime_ms: live?.uptimeMs ?? Number(record.uptime_ms),
      ...(bytes !== undefined && !isOver(record) && { resident_bytes: Number(bytes) }),
      ...(wakeMs !== null && { last_wake_ms: wakeMs }),
    },
  }
}

function toProxySelection(
  { proxy_id: id, is_default_proxy_disabled: isDirect }: BrowserRecord,
  names: ReadonlyMap<string, string>,
): ProxySelection {
  if (id === null) return { mode: isDirect ? 'direct' : 'default' }
  const name = names.get(id)
  return { id, ...(name !== undefined && { name }) }
}

/** Undefined before the first save. */
function toSave(record: BrowserRecord): ProfileSave | undefined {
  const { profile_save: state, profile_saved_version: version, profile_save_message: message } = record
  if (state === null) return undefined
  return { state, ...(version !== null && { version }), ...(message !== null && { message }) }
}
