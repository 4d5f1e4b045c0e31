// What a request says about the browser of a connection: in `browser`, or in the fields of older clients.
import type { BrowserOptions, ProxyReference } from '@berth/contracts/auth-connections'
import type { ProxyMode } from '@berth/contracts/proxies'
import type { TelemetryRequest } from '@berth/contracts/telemetry'
import { invalidInput } from '../../platform/errors/app-error.ts'
import type { Db } from '../../platform/database/schema.ts'
import { findProxiesNamed, holdProxy } from '../../sessions/proxies/store.ts'
import { exportChoice } from '../../sessions/telemetry/export/choice.ts'
import { holdExport } from '../../sessions/telemetry/export/references.ts'
import { selectAtCreation, type Age } from '../../sessions/telemetry/selection.ts'
import type { ConnectionRecord } from './types.ts'

interface Asked {
  readonly browser?: BrowserOptions
  readonly proxy?: ProxyReference
  readonly browser_telemetry?: TelemetryRequest | null
}

/** Columns of a connection, and of a flow. Absent ones stay as they are. */
export interface BrowserColumns {
  readonly stealth?: boolean
  readonly proxy_id?: string | null
  readonly proxy_mode?: ProxyMode | null
  readonly telemetry?: string | null
  readonly telemetry_age?: Age
}

/** Runs in the transaction that stores the columns: neither proxy nor destination can be deleted during it. */
export async function readBrowserOptions(
  tx: Db,
  { browser, proxy, browser_telemetry }: Asked,
  { projectId, age }: { projectId: string; age: Age },
): Promise<BrowserColumns> {
  if (browser?.proxy && proxy) throw invalidInput('browser.proxy', 'cannot be given together with proxy')
  if (browser?.telemetry !== undefined && browser_telemetry !== undefined) {
    throw invalidInput('browser.telemetry', 'cannot be given together with browser_telemetry')
  }
  const telemetry = browser?.telemetry === undefined ? browser_telemetry : browser.telemetry
  await holdExport(tx, projectId, telemetry)
  return {
    ...(browser?.stealth !== undefined && { stealth: browser.stealth }),
    ...(browser?.proxy && (await readChoice(tx, projectId, browser.proxy))),
    ...(proxy && { proxy_id: await idOf(tx, projectId, proxy, 'proxy'), proxy_mode: null }),
    ...(telemetry !== undefined && { telemetry: toTelemetry(telemetry, age), telemetry_age: age }),
  }
}

/** For a flow that begins with the browser of its connection. */
export function browserColumnsOf(connection: ConnectionRecord) {
  const { stealth, proxy_id, proxy_mode, telemetry, telemetry_age } = connection
  return {
    stealth,
    proxy_id,
    proxy_mode,
    telemetry: telemetry && JSON.stringify(telemetry),
    telemetry_age,
  }
}

async function readChoice(
  tx: Db,
  projectId: string,
  { mode, id, name }: NonNullable<BrowserOptions['proxy']>,
): Promise<Pick<BrowserColumns, 'proxy_id' | 'proxy_mode'>> {
  if ([mode, id, name].filter((each) => each !== undefined).length !== 1) {
    throw invalidInput('browser.proxy', 'must have exactly one of mode, id and name')
  }
  if (mode !== undefined) return { proxy_id: null, proxy_mode: mode }
  return { proxy_id: await idOf(tx, projectId, { id, name }, 'browser.proxy'), proxy_mode: null }
}

/** An empty id removes the proxy. */
async function idOf(
  tx: Db,
  projectId: string,
  { id, name }: { readonly id?: string | undefined; readonly name?: string | undefined },
  field: string,
): Promise<string | null> {
  if ((id === undefined) === (name === undefined)) {
    throw invalidInput(field, 'must have an id or a name, and not both')
  }
  if (id === '') return null
  const [found, another] = id === undefined ? await findProxiesNamed(tx, projectId, name!) : [id]
  if (another !== undefined) {
    throw invalidInput(`${field}.name`, `names several proxies: use the id of one of them`)
  }
  if (found === undefined || !(await holdProxy(tx, projectId, found))) {
    throw invalidInput(field, 'names no proxy of the project')
  }
  return found
}

/** Stored as requested; an invalid value is refused now and not at the first login. */
function toTelemetry(request: TelemetryRequest | null, age: Age): string | null {
  if (!request) return null
  const selection = selectAtCreation({ request, age })
  exportChoice(request, { selection, isExporting: false })
  return JSON.stringify(request)
}
