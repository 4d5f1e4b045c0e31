// A server that is killed is started again at once, as systemd does it. Its sessions live on, and the next server adopts
// them: this measures how long a client has to wait.
import assert from 'node:assert/strict'
import type { Browser } from '@berth/contracts/browsers'
import { tempDir } from '../../../tests/fixtures/server.ts'
import { judgeValues, type ValueMetric } from '../measure/values.ts'
import { onFreeCores } from '../measure/cores.ts'
import { atMost } from '../measure/metric.ts'
import { Page } from '../subjects/page.ts'
import { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { startUntilHealthy } from '../subjects/start.ts'
import { oursAsNpmStart } from '../subjects/startables.ts'
import type { ProcessRow } from './row.ts'
import { LONG_TIMEOUT_SECONDS } from './standby-watch.ts'

const GOAL = atMost(3_000)

export const afterKillRow: ProcessRow = {
  number: 46,
  title: 'From kill -9 of the server until its sessions answer again',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores, servers }, { effort, signal }) {
    await servers.close()
    const dataDir = tempDir(cleanup)
    const start = async () => {
      const started = await startUntilHealthy(cleanup, oursAsNpmStart(dataDir), cores.all)
      return { started, server: new SessionServer(started, { dataDir, settings: {}, effort }) }
    }
    const readings = await onFreeCores(
      cores,
      () => [],
      async () => {
        let { started, server } = await start()
        const browsers: Browser[] = []
        while (browsers.length < effort.wakeSessions) browsers.push(await markedSession(server))
        const measured = []
        while (measured.length < effort.kills) {
          signal.throwIfAborted()
          await server.settled({ sessions: browsers.length })
          const killedAt = performance.now()
          await started.kill()
          ;({ started, server } = await start())
          const readyMs = performance.now() - killedAt
          await server.get(browsers[0]!.session_id)
          const calledMs = performance.now() - killedAt
          await assertMarked(server, browsers[0]!)
          const pageMs = performance.now() - killedAt
          for (const browser of browsers.slice(1)) await assertMarked(server, browser)
          measured.push({ readyMs, calledMs, pageMs, allMs: performance.now() - killedAt })
        }
        for (const browser of browsers) await server.delete(browser)
        await server.stop()
        return measured
      },
    )
    yield judgeValues(
      [
        { ...line('the server is ready', 'readyMs') },
        { ...line('a call for a session is answered', 'calledMs'), goal: GOAL },
        { ...line('its page computes', 'pageMs'), goal: GOAL },
        line(`the pages of all ${effort.wakeSessions} sessions do`, 'allMs'),
      ],
      readings,
    )
  },
}

function line(what: string, reading: string): ValueMetric {
  return { row: 46, name: `After kill -9, until ${what}`, reading, unit: 'ms', digits: 0 }
}

/** Its page keeps something that no new page has. */
async function markedSession(server: SessionServer): Promise<Browser> {
  const browser = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
  const page = await Page.open(browser.cdp_ws_url)
  await page.evaluate(`globalThis.kept = ${JSON.stringify(browser.session_id)}`)
  await page.close()
  return browser
}

/** Every server has a port of its own, and the rest of the URL stays. */
async function assertMarked(server: SessionServer, { session_id: id, cdp_ws_url }: Browser): Promise<void> {
  const url = new URL(cdp_ws_url)
  url.host = new URL(server.url).host
  const page = await Page.open(url.href)
  assert.equal(await page.evaluate('globalThis.kept'), id)
  await page.close()
}
