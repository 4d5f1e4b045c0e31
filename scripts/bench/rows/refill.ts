import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { Cdp } from '../subjects/cdp.ts'
import { HttpClient } from '../subjects/http-client.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { quantile } from '../measure/statistics.ts'
import { LONG_TIMEOUT_SECONDS } from './standby-watch.ts'
import { roundTrips } from './round-trip.ts'
import type { ProcessRow } from './row.ts'

const WAIT_TIMEOUT_MS = 20_000
const LOOK_EVERY_MS = 5

export const refillRow: ProcessRow = {
  number: 6,
  title: 'Round trip in a session while the pool refills, against the same session with a full pool',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, servers }, measuring) {
    const { warmInstances, refillSeconds: seconds, createPairs } = measuring.effort
    const server = await servers.one({ warmHeadless: warmInstances })
    const http = new HttpClient({ connections: warmInstances })
    cleanup.after(() => http.close())
    const browser = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
    const cdp = await Cdp.open(browser.cdp_ws_url)
    await server.settled({ sessions: 1 })
    const readings = async () => {
      const callsMs = await roundTrips(cdp, { seconds })
      return { p50Ms: quantile(callsMs, 0.5), p95Ms: quantile(callsMs, 0.95), calls: callsMs.length }
    }
    yield await compare(
      {
        blocks: { ours: refillBlock(server, { http, readings }), baseline: readings },
        pairs: createPairs,
        metrics: [{ ...line('p95', 'p95Ms'), goal: atMost(2, 1.3) }, line('p50', 'p50Ms')],
      },
      measuring,
    )
    await cdp.close()
    await server.delete(browser)
    await server.settled()
  },
}

function line(what: string, reading: string): Metric {
  const name = `Browser.getVersion while the pool refills: ${what}`
  return { row: 6, name, reading, unit: 'ms', digits: 3, judged: 'ratio' }
}

/** Short sessions empty the pool first; then the block measures while the pool fills again. */
function refillBlock(
  server: SessionServer,
  { http, readings }: { http: HttpClient; readings: Block },
): Block {
  const { warmHeadless: wanted = 0 } = server.settings
  return async () => {
    const known = new Set(server.instanceIds())
    const claimed = await Promise.all(
      Array.from({ length: wanted }, () => server.create({ headless: true }, http)),
    )
    await Promise.all(claimed.map((browser) => server.delete(browser)))
    const deadline = performance.now() + WAIT_TIMEOUT_MS
    const isOnlyRefilling = () => {
      const ids = server.instanceIds()
      return ids.some((id) => !known.has(id)) && ids.filter((id) => known.has(id)).length === 1
    }
    while (!isOnlyRefilling()) {
      assert.ok(performance.now() < deadline, 'the pool was not full again in time')
      await pause(LOOK_EVERY_MS)
    }
    const read = await readings()
    assert.ok((await server.warmCount('headless')) < wanted, 'the pool was full before the end')
    await server.settled({ sessions: 1 })
    return read
  }
}
