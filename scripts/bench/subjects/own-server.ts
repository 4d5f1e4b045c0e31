// A server with sessions for one row only: with its own data directory, which no other row uses afterwards.
import { tempDir } from '../../../tests/fixtures/server.ts'
import type { Cleanup } from '../cleanup.ts'
import type { CoreList } from '../measure/cores.ts'
import { SessionServer, type ServerSettings } from './session-server.ts'
import { startUntilHealthy } from './start.ts'
import { oursWithSessions } from './startables.ts'

export interface OwnServerOptions {
  readonly cores: CoreList
  readonly effort: { readonly isJudged: boolean }
  readonly settings: Pick<ServerSettings, 'warmHeadless'>
  readonly env: Record<string, string>
}

export async function startOwnServer(
  cleanup: Cleanup,
  { cores, effort, settings, env }: OwnServerOptions,
): Promise<SessionServer> {
  const dataDir = tempDir(cleanup)
  const startable = oursWithSessions({
    node: process.execPath,
    dataDir,
    env: { BERTH_WARM_HEADLESS: String(settings.warmHeadless ?? 0), ...env },
  })
  const started = await startUntilHealthy(cleanup, startable, cores)
  return new SessionServer(started, { dataDir, settings, effort })
}
