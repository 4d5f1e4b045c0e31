import assert from 'node:assert/strict'
import { HttpClient } from '../subjects/http-client.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { onFreeCores } from '../measure/cores.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { treeOf } from '../measure/processes.ts'
import { quantile } from '../measure/statistics.ts'
import type { ProcessRow } from './row.ts'

export const burstRow: ProcessRow = {
  number: 5,
  title: 'Warm creates at once, as many as the pool holds, against a single create',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores, servers }, measuring) {
    const { burst, createPairs } = measuring.effort
    const server = await servers.one({ warmHeadless: burst })
    const http = new HttpClient({ connections: burst })
    cleanup.after(() => http.close())
    const blocks = {
      ours: createAtOnce(server, { count: burst, http }),
      baseline: createAtOnce(server, { count: 1, http }),
    }
    const metric = line(`${burst} warm creates at once: p95, against one`)
    yield await compare(
      { blocks, pairs: createPairs, metrics: [{ ...metric, goal: atMost(5, 2.5) }] },
      measuring,
    )
    yield await onFreeCores(
      cores,
      () => treeOf(server.pid),
      () =>
        compare(
          { blocks, pairs: Math.ceil(createPairs / 2), metrics: [line(`${metric.name}, cores free`)] },
          measuring,
        ),
    )
  },
}

function line(name: string): Metric {
  return { row: 5, name, reading: 'p95Ms', unit: 'ms', digits: 1, judged: 'ratio' }
}

/** With a single create, p95 is that one sample; the median is taken over the pairs. */
function createAtOnce(server: SessionServer, { count, http }: { count: number; http: HttpClient }): Block {
  return async () => {
    const startedAt = performance.now()
    const sessions = await Promise.all(
      Array.from({ length: count }, async () => {
        const browser = await server.create({ headless: true }, http)
        const page = await Page.open(browser.cdp_ws_url)
        return { browser, page, usableMs: performance.now() - startedAt }
      }),
    )
    await assertOwnBrowsers(sessions.map(({ browser, page }) => ({ id: browser.session_id, page })))
    for (const { browser, page } of sessions) {
      await page.close()
      await server.delete(browser)
    }
    await server.settled()
    const elapsedMs = sessions.map(({ usableMs }) => usableMs)
    return { elapsedMs, p95Ms: quantile(elapsedMs, 0.95) }
  }
}

/** Every session has its own browser: a marker set in one is seen only in that one. */
async function assertOwnBrowsers(sessions: readonly { id: string; page: Page }[]): Promise<void> {
  assert.equal(new Set(sessions.map(({ id }) => id)).size, sessions.length)
  for (const { id, page } of sessions) {
    assert.equal(
      await page.evaluate('globalThis.marker'),
      undefined,
      'the new session still has the marker of an earlier one',
    )
    await page.evaluate(`globalThis.marker = ${JSON.stringify(id)}`)
  }
  for (const { id, page } of sessions) assert.equal(await page.evaluate('globalThis.marker'), id)
}
