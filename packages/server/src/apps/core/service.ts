import { REGION, type AppVersion } from '@berth/contracts/apps'
import type { Db } from '../../platform/database/schema.ts'
import type { OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import * as store from './store.ts'

export async function listApps(
  db: Db,
  projectId: string | null,
  query: { limit?: number; offset?: number; app_name?: string; version?: string; query?: string },
): Promise<OffsetPage<AppVersion[]>> {
  const { limit = 20, offset = 0, ...filters } = query
  const rows = await store.listAppVersions(db, projectId, { ...filters, limit: limit + 1, offset })
  return toPage(rows.map(toAppVersion), limit)
}

export function toAppVersion(record: store.AppVersionRecord): AppVersion {
  return {
    id: record.id,
    app_name: record.app_name,
    version: record.version,
    region: REGION,
    deployment: record.deployment_id,
    actions: record.actions,
    env_vars: blanked(record.env_names),
  }
}

/** Shows names, never values. */
export function blanked(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, '']))
}
