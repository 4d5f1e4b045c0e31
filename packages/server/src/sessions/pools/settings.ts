// Converts requests to create or update a pool into its settings.
import type { CreateBrowserPoolRequest, UpdateBrowserPoolRequest } from '@berth/contracts/browser-pools'
import { DEFAULT_FILL_RATE, DEFAULT_POOL_TIMEOUT_SECONDS } from '@berth/contracts/browser-pools'
import type { PooledBrowserRequest } from '../../platform/database/schema.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import { refuseExport } from '../telemetry/export/choice.ts'
import { selectAtCreation, selectAtUpdate, type Age } from '../telemetry/selection.ts'
import type { PoolRecord, PoolSettings } from './types.ts'

const NO_EXPORT =
  'is not for pools: their browsers export while they are leased; name the destination when you acquire one'

export function settingsAtCreation(body: CreateBrowserPoolRequest, age: Age): PoolSettings {
  const browser = changedBrowser({}, body)
  refuseExport(body.telemetry, NO_EXPORT)
  return {
    name: body.name ?? null,
    size: body.size,
    fillRatePerMinute: body.fill_rate_per_minute ?? DEFAULT_FILL_RATE,
    timeoutSeconds: body.timeout_seconds ?? DEFAULT_POOL_TIMEOUT_SECONDS,
    refreshOnProfileUpdate: refreshes(body, browser, browser.profile !== undefined),
    resetOnRelease: body.reset_on_release ?? false,
    browser,
    telemetry: selectAtCreation({ request: body.telemetry, age }),
  }
}

export function settingsAtUpdate(pool: PoolRecord, body: UpdateBrowserPoolRequest, age: Age): PoolSettings {
  const browser = changedBrowser(pool.browser, body)
  refuseExport(body.telemetry, NO_EXPORT)
  const telemetry = selectAtUpdate({ request: body.telemetry, age }, pool.telemetry)
  const isFirstProfile = pool.browser.profile === undefined && browser.profile !== undefined
  return {
    name: body.name || pool.name,
    size: body.size ?? pool.size,
    fillRatePerMinute: body.fill_rate_per_minute ?? pool.fill_rate_per_minute,
    timeoutSeconds: body.timeout_seconds ?? pool.timeout_seconds,
    refreshOnProfileUpdate: refreshes(body, browser, pool.refresh_on_profile_update || isFirstProfile),
    resetOnRelease: body.reset_on_release ?? pool.reset_on_release,
    browser,
    telemetry: telemetry === undefined ? pool.telemetry : telemetry,
  }
}

/** A refresh makes sense only with a profile. */
function refreshes(
  { refresh_on_profile_update: asked }: UpdateBrowserPoolRequest,
  { profile }: PooledBrowserRequest,
  otherwise: boolean,
): boolean {
  if (asked === true && profile === undefined) {
    throw invalidInput('refresh_on_profile_update', 'needs a profile')
  }
  return profile !== undefined && (asked ?? otherwise)
}

/** An empty value removes the field. */
function changedBrowser(before: PooledBrowserRequest, asked: UpdateBrowserPoolRequest): PooledBrowserRequest {
  const { headless, stealth, kiosk_mode, viewport } = asked
  const fields: Record<string, unknown> = { ...before }
  for (const [name, value] of Object.entries({ headless, stealth, kiosk_mode, viewport })) {
    if (value !== undefined) fields[name] = value
  }
  const cleared: Record<string, unknown> = {
    start_url: asked.start_url,
    profile: asked.profile && profileOf(asked.profile),
    extensions: asked.extensions?.map(extensionOf),
    proxy_id: asked.proxy_id,
    network: asked.network,
    chrome_policy: asked.chrome_policy,
  }
  for (const [name, value] of Object.entries(cleared)) {
    if (value === undefined) continue
    if (isEmpty(value)) delete fields[name]
    else fields[name] = value
  }
  // The contract and the code above have checked each field.
  return fields
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

/** Keeps only id or name, because pools ignore the other fields. Empty when the request removes the profile. */
function profileOf({ id, name }: NonNullable<UpdateBrowserPoolRequest['profile']>): object {
  if ((id === undefined) === (name === undefined)) {
    throw invalidInput('profile', 'needs either an id or a name; an empty id removes the profile')
  }
  return id === '' || name === '' ? {} : onlyGiven({ id, name })
}

function extensionOf({ id, name }: { id?: string; name?: string }, index: number): object {
  if (!id === !name) throw invalidInput(`extensions[${index}]`, 'needs either an id or a name')
  return onlyGiven({ id, name })
}

function onlyGiven({ id, name }: { id?: string | undefined; name?: string | undefined }): object {
  return id ? { id } : { name }
}
