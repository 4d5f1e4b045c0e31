// Compares a session with full telemetry to one with none: what its pages and clients notice.
import assert from 'node:assert/strict'
import type { Browser } from '@berth/contracts/browsers'
import { BUSY_REQUESTS, type Site } from '../../../tests/fixtures/site.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { quantile } from '../measure/statistics.ts'
import { inSession } from './in-session.ts'
import { LONG_TIMEOUT_SECONDS } from './standby-watch.ts'
import type { ProcessRow } from './row.ts'
import { roundTrips } from './round-trip.ts'

const WAIT_TIMEOUT_MS = 10_000

interface TestSession {
  readonly browser: Browser
  readonly page: Page
  loads: number
}

export const telemetryRow: ProcessRow = {
  number: 11,
  title: 'Page with 50 requests and a round trip with telemetry, against the same without',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers }, measuring) {
    const { loopPairs, callsPerBlock } = measuring.effort
    const server = await servers.one({})
    const site = await servers.site()
    // The four categories that are on by default.
    const ours = await open(server, { telemetry: {} })
    const baseline = await open(server, {})
    await server.settled({ sessions: 2 })
    const before = site.requests.length
    yield await compare(
      {
        blocks: {
          ours: block(ours, { site, calls: callsPerBlock }),
          baseline: block(baseline, { site, calls: callsPerBlock }),
        },
        pairs: loopPairs,
        metrics: [
          { ...line('page load, until its script is done', 'loadMs', 1), goal: atMost(1.15, 1.05) },
          { ...line('round trip of a client, p50', 'callMs', 3), goal: atMost(1.25, 1.05) },
        ],
      },
      measuring,
    )
    const busy = site.requests.slice(before).filter((path) => path.startsWith('/busy'))
    assert.equal(busy.length, (ours.loads + baseline.loads) * (BUSY_REQUESTS + 1))
    // Every request that the site saw must have an event, and so must its answer.
    for (const type of ['network_request', 'network_response']) {
      await counted(ours.browser, type, ours.loads * (BUSY_REQUESTS + 1))
    }
    for (const { page, browser } of [ours, baseline]) {
      await page.close()
      await server.delete(browser)
    }
    await server.settled()
  },
}

function line(what: string, reading: string, digits: number): Metric {
  return { row: 11, name: `Telemetry: ${what}`, reading, unit: 'ms', digits, judged: 'ratio' }
}

async function open(server: SessionServer, more: object): Promise<TestSession> {
  const wanted = { headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS, ...more }
  const browser = await server.create(wanted)
  return { browser, page: await Page.open(browser.cdp_ws_url), loads: 0 }
}

/** One page load, then round trips in that page. */
function block(session: TestSession, { site, calls }: { site: Site; calls: number }): Block {
  const { page } = session
  return async () => {
    await page.call('Page.navigate', { url: `${site.url}/busy?${session.loads}` })
    session.loads++
    await page.until('typeof doneAt', 'number')
    const loadMs = (await page.evaluate('doneAt')) as number
    const callsMs = await roundTrips(page.cdp, { count: calls })
    return { loadMs, callMs: quantile(callsMs, 0.5) }
  }
}

async function counted(browser: Browser, type: string, expected: number): Promise<void> {
  const deadline = performance.now() + WAIT_TIMEOUT_MS
  let count = 0
  while (performance.now() < deadline) {
    count = await countOf(browser, type)
    if (count >= expected) break
  }
  assert.equal(count, expected, `${count} events ${type} where the site saw ${expected} requests`)
}

async function countOf(browser: Browser, type: string): Promise<number> {
  const url = inSession(browser, '/telemetry/events')
  let count = 0
  for (let offset = '1'; offset !== '0';) {
    const answer = await fetch(`${url}&limit=100&category=network&offset=${offset}`)
    assert.equal(answer.status, 200)
    const events = (await answer.json()) as { event: { type: string; data: { url: string } } }[]
    count += events.filter(({ event }) => event.type === type && event.data.url.includes('/busy')).length
    offset = answer.headers.get('x-next-offset')!
  }
  return count
}
