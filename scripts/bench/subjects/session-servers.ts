// The servers of the rows with sessions. A running server with the same settings is used again, and so is the data
// directory of an ended one: creating a database takes longer than a row.
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { helpText } from '@berth/server/config/help'
import { findProgram } from '@berth/server/instances/local/programs'
import { tempDir } from '../../../tests/fixtures/server.ts'
import { startSite, type Site } from '../../../tests/fixtures/site.ts'
import type { Cleanup } from '../cleanup.ts'
import type { CoreList } from '../measure/cores.ts'
import { chromiumProgram } from './bare-chromium.ts'
import { SessionServer, type ServerSettings } from './session-server.ts'
import { startUntilHealthy } from './start.ts'
import { oursWithSessions } from './startables.ts'
import { xServerProgram } from './x-server.ts'

const EMPTY_SETTING = 'BERTH_EMPTY_INSTANCES'

/** Whether this version can keep instances ready without a browser. */
export const hasEmptyInstances = helpText().includes(`${EMPTY_SETTING}\n`)

/** The reason why rows with real sessions cannot be measured here. */
export function whyNoSessions(): string | undefined {
  if (process.getuid!() !== 0) return 'real instances need root'
  if (!findProgram('bwrap')) return 'bubblewrap is not installed'
  if (!existsSync(chromiumProgram)) return `${chromiumProgram} is not installed`
  return undefined
}

export function whyNoHeadfulSessions(): string | undefined {
  return whyNoSessions() ?? (existsSync(xServerProgram) ? undefined : `${xServerProgram} is not installed`)
}

export interface SessionServersOptions {
  readonly cores: CoreList
  readonly env: Record<string, string>
  readonly effort: { readonly isJudged: boolean }
}

export class SessionServers {
  readonly #cleanup: Cleanup
  readonly #options: SessionServersOptions
  readonly #running: SessionServer[] = []
  readonly #freeDirs: string[] = []
  #node: string | undefined
  #site: Site | undefined
  /** The longest start so far. */
  startMs = 0

  constructor(cleanup: Cleanup, options: SessionServersOptions) {
    this.#cleanup = cleanup
    this.#options = options
  }

  /** A web site on this machine that the sessions of all servers can reach. */
  async site(): Promise<Site> {
    return (this.#site ??= await startSite(this.#cleanup))
  }

  async one(settings: ServerSettings): Promise<SessionServer> {
    const [server] = await this.open([settings])
    return server!
  }

  /** One settled server for each settings; all others end, because they would disturb. */
  async open(wanted: readonly ServerSettings[]): Promise<SessionServer[]> {
    const isWanted = ({ settings }: SessionServer) => wanted.some((one) => isDeepStrictEqual(one, settings))
    for (const server of this.#running.filter((running) => !isWanted(running))) await this.stop(server)
    const servers: SessionServer[] = []
    for (const settings of wanted) {
      const running = this.#running.find((server) => isDeepStrictEqual(server.settings, settings))
      servers.push(running ?? (await this.#start(settings)))
    }
    for (const server of servers) await server.settled()
    return servers
  }

  /** For a row that needs a server without earlier requests. */
  async fresh(settings: ServerSettings): Promise<SessionServer> {
    await this.close()
    return this.one(settings)
  }

  async close(): Promise<void> {
    for (const server of this.#running.toReversed()) await this.stop(server)
  }

  async stop(server: SessionServer): Promise<void> {
    this.#running.splice(this.#running.indexOf(server), 1)
    await server.stop()
    this.#freeDirs.push(server.dataDir)
  }

  async #start(settings: ServerSettings): Promise<SessionServer> {
    const dataDir = this.#freeDirs.pop() ?? tempDir(this.#cleanup)
    const { warmHeadless = 0, warmHeadful = 0, empty = 0, cluster, deepStandby } = settings
    const env = {
      ...this.#options.env,
      BERTH_WARM_HEADLESS: String(warmHeadless),
      BERTH_WARM_HEADFUL: String(warmHeadful),
      ...(hasEmptyInstances && { [EMPTY_SETTING]: String(empty) }),
      ...(await this.site()).allow,
      ...cluster,
      ...(deepStandby && {
        BERTH_DEEP_STANDBY_SWAP: deepStandby.swap,
        BERTH_DEEP_STANDBY_SECONDS: String(deepStandby.seconds),
      }),
    }
    const startable = oursWithSessions({ node: this.#ownNode(), dataDir, env })
    const started = await startUntilHealthy(this.#cleanup, startable, this.#options.cores)
    this.startMs = Math.max(this.startMs, started.startMs)
    const server = new SessionServer(started, { dataDir, settings, effort: this.#options.effort })
    this.#running.push(server)
    return server
  }

  /**
   * A separate copy of Node for server and agents. With a shared file, the kernel would count its pages as
   * shared with this process, and sessions would seem smaller than they are.
   */
  #ownNode(): string {
    if (!this.#node) {
      this.#node = join(tempDir(this.#cleanup), 'node')
      copyFileSync(process.execPath, this.#node)
    }
    return this.#node
  }
}
