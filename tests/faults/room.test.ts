// Two and three servers with real browsers, of which one is full: a session that another one starts is used like any
// other, and kills on either side leave no browser that nobody knows. tests/api/room.test.ts has the rules.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { chromium } from 'playwright-core'
import { client55, client70, client84 } from '../client/versions.ts'
import { withCdp } from '../fixtures/cdp.ts'
import { holding, liveOn, newFleet, sessionRows } from '../fixtures/fleets.ts'
import { assertNothingLeft, eventually, instanceDirs } from '../fixtures/host.ts'
import type { TestServer } from '../fixtures/server.ts'
import { createSession, metric, send } from '../fixtures/sessions.ts'
import { sample } from '../tiers.ts'

const crashing = (sessions: number, at: string) => ({
  env: { ...holding(sessions).env, BERTH_CRASH_AT: at },
})
const isKilled = ({ process }: TestServer) => process.signalCode === 'SIGKILL'

/** Rows, instances and the counters of the servers agree. */
async function agree(...servers: readonly TestServer[]): Promise<void> {
  await eventually('rows and instances agree', async () => {
    const rows = await sessionRows(servers[0]!)
    const counts = await liveOn(...servers)
    const live = await Promise.all(servers.map((server) => metric(server, 'berth_live_sessions')))
    const instances = servers.map(({ dataDir }) => instanceDirs(dataDir).length)
    return (
      rows.every(({ state }) => state !== 'starting' && state !== 'ending') &&
      counts.join() === live.join() &&
      counts.join() === instances.join()
    )
  })
}

async function newPair(t: TestContext) {
  const start = await newFleet(t, { hasRealInstances: true })
  const [one, other] = await Promise.all([start(holding(1)), start(holding(3))])
  await createSession(one)
  return { start, one, other }
}

test('the published client creates on a full server, uses the session through it, and deletes it', async (t) => {
  const { one, other } = await newPair(t)
  for (const client of [client84(one), client70(one), client55(one)]) {
    const session = await client.browsers.create({ headless: true, timeout_seconds: 300 })
    assert.deepEqual(await liveOn(one, other), [1, 1])
    const browser = await chromium.connectOverCDP(session.cdp_ws_url)
    const page = browser.contexts()[0]!.pages()[0]!
    assert.equal(await page.evaluate('6 * 7'), 42)
    await browser.close()
    const seen = await client.browsers.retrieve(session.session_id)
    assert.equal(seen.session_id, session.session_id)
    await client.browsers.deleteByID(session.session_id)
    await agree(one, other)
  }
})

test('a session with all its parts starts on the other server: screen, size, policy, recording and telemetry', async (t) => {
  const { one, other } = await newPair(t)
  const session = await createSession(one, {
    headless: false,
    viewport: { width: 1024, height: 768 },
    chrome_policy: { DefaultNotificationsSetting: 2 },
    record: { framerate: 5 },
    telemetry: { enabled: true },
  })
  await withCdp(session.cdp_ws_url, async (cdp) => {
    assert.equal(await cdp.evaluate('outerWidth'), 1024)
    assert.equal(await cdp.evaluate('Notification.permission'), 'denied')
  })
  const { body } = await send<object[]>(one, 'GET', `/browsers/${session.session_id}/replays`)
  assert.equal(body.length, 1)
  assert.equal((await send(one, 'DELETE', `/browsers/${session.session_id}`)).status, 204)
  await agree(one, other)
})

test('a kill of the asking server ends the browser that the other one has started for it', async (t) => {
  const { start, one, other } = await newPair(t)
  const doomed = await start(crashing(1, 'elsewhere-started'))
  await createSession(doomed)
  await assert.rejects(send(doomed, 'POST', '/browsers', { headless: true, name: 'lost' }))
  await eventually('it is killed', () => isKilled(doomed))
  await eventually('the other server has ended it', async () => {
    const [row] = (await sessionRows(one)).filter(({ name }) => name === 'lost')
    return row?.state === 'ended' && row.end_reason === 'start_failed'
  })
  // Its own session goes on.
  const back = await start({ dataDir: doomed.dataDir, ...holding(1) })
  await agree(one, other, back)
  assert.deepEqual(await liveOn(one, other, back), [1, 0, 1])
})

test('a kill of the other server leaves nothing of its browser, and the next one is asked', async (t) => {
  const { start, one, other } = await newPair(t)
  for (const at of sample(['browser-reserved', 'instance-ready', 'started-for-another'], 'crashPoints')) {
    const doomed = await start(crashing(9, at))
    const session = await createSession(one, { name: at })
    assert.equal(await withCdp(session.cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
    await eventually('it is killed', () => isKilled(doomed))
    const back = await start({ dataDir: doomed.dataDir, ...holding(9) })
    await agree(one, other, back)
    assert.deepEqual((await liveOn(one, other, back)).at(-1), 0)
    await back.stop('SIGINT')
    await assertNothingLeft(back.dataDir)
    assert.equal((await send(one, 'DELETE', `/browsers/${session.session_id}`)).status, 204)
  }
})
