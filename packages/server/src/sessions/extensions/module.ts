// Assembles the extensions of projects and of new sessions.
import { join } from 'node:path'
import type { Route } from '../../http/call.ts'
import { PerCallUpstream } from '../../instances/egress/per-call-upstream.ts'
import { directOptions } from '../../instances/module.ts'
import type { Platform } from '../../platform/module.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import { findDefaultProject } from '../../tenancy/projects/store.ts'
import { ChromeStore } from './chrome-store.ts'
import { extensionRoutes } from './routes.ts'
import { ExtensionService } from './service.ts'
import { SessionExtensions } from './session-extensions.ts'
import { Spool } from './spool.ts'

export interface ExtensionsModule {
  readonly sessionExtensions: SessionExtensions
  readonly routes: readonly Route[]
}

export async function newExtensions(
  { config, db, box, blobs }: Platform,
  storage: StorageLimits,
): Promise<ExtensionsModule> {
  const service = new ExtensionService({
    db,
    box,
    blobs,
    storage,
    spool: await Spool.open(join(config.BERTH_DATA_DIR, 'uploads')),
    chromeStore: new ChromeStore({
      address: config.BERTH_CHROME_STORE_URL,
      upstream: new PerCallUpstream(directOptions(config)),
    }),
    defaultProject: findDefaultProject,
  })
  return {
    sessionExtensions: new SessionExtensions({ db, contentOf: (record) => service.content(record) }),
    routes: extensionRoutes(service),
  }
}
