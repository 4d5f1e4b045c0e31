// Deep standby of real sessions: their memory is in swap, and nothing of them is lost. Swap belongs to the machine, so each
// test turns its own on, and off again.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Browser } from 'playwright-core'
import { client84 } from '../client/versions.ts'
import { eventually, instanceDirs } from '../fixtures/host.ts'
import { startServer, type ServerOptions, type TestServer } from '../fixtures/server.ts'
import { haveSwap, swapFile, usedBytesOf, whyNoDeepStandby, whyNoZram } from '../fixtures/swap.ts'

const MB = 2 ** 20
const MAX_RESIDENT_BYTES = 40 * MB
/** Enough that a page without deep standby would be seen. */
const HEAP_ITEMS = 400_000

const onZram = {
  BERTH_DEEP_STANDBY_SECONDS: '1',
  BERTH_DEEP_STANDBY_SWAP: 'zram',
  BERTH_DEEP_STANDBY_SWAP_MB: '1024',
  BERTH_LEASE_SECONDS: '20',
}
const skipsZram = { skip: whyNoZram() ?? false }
const skipsSwap = { skip: whyNoDeepStandby() ?? false }

interface Shown {
  readonly state?: string
  readonly standby?: 'light' | 'deep'
  readonly usage?: {
    readonly uptime_ms: number
    readonly resident_bytes?: number
    readonly last_wake_ms?: number
  }
}

async function withZram(t: TestContext, options: ServerOptions = {}): Promise<TestServer> {
  return startServer(t, { ...options, hasRealInstances: true, env: { ...onZram, ...options.env } })
}

const get = (server: TestServer, id: string): Promise<Shown> => client84(server).browsers.retrieve(id)

/** With a page that has something to lose. Returns its id and CDP URL. */
async function createWithPage(server: TestServer, more: object = {}) {
  const session = await client84(server).browsers.create({ headless: true, timeout_seconds: 600, ...more })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  await page(browser).evaluate(
    `globalThis.kept = Array.from({ length: ${HEAP_ITEMS} }, (_, n) => 'item ' + n); document.title = 'kept'`,
  )
  return { id: session.session_id, url: session.cdp_ws_url, browser }
}

const page = (browser: Browser) => browser.contexts()[0]!.pages()[0]!

async function assertIntact(url: string): Promise<void> {
  const browser = await chromium.connectOverCDP(url)
  assert.equal(await page(browser).evaluate('kept.at(-1)'), `item ${HEAP_ITEMS - 1}`)
  assert.equal(await page(browser).title(), 'kept')
  await browser.close()
}

async function untilDeep(server: TestServer, id: string): Promise<Shown> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const shown = await get(server, id)
    if (shown.standby === 'deep') return shown
    assert.ok(performance.now() < deadline, `not in deep standby: ${JSON.stringify(shown)}`)
    await pause(200)
  }
}

/** Processor time of an instance, for both kinds of control groups. */
function cpuOf(instanceId: string): number {
  const [path] = globSync([
    `/sys/fs/cgroup/{cpu,cpuacct,cpu,cpuacct}/**/${instanceId}/cpuacct.usage`,
    `/sys/fs/cgroup/cpu*/**/${instanceId}/cpu.stat`,
    `/sys/fs/cgroup/**/${instanceId}/cpu.stat`,
  ])
  const text = readFileSync(path!, 'utf8')
  return Number(/usage_usec (\d+)/.exec(text)?.[1] ?? text)
}

async function metric(server: TestServer, name: string): Promise<number> {
  const text = await (await server.fetch('/metrics')).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1))
}

describe('deep standby', () => {
  test('takes the memory of a session and gives it back, page and all', skipsZram, async (t) => {
    await haveSwap(t)
    const server = await withZram(t)
    const { id, url, browser } = await createWithPage(server)
    assert.equal((await get(server, id)).standby, undefined, 'it runs')
    await browser.close()
    const deep = await untilDeep(server, id)
    assert.equal(deep.state, 'standby')
    const { resident_bytes: residentBytes, uptime_ms: uptimeMs } = deep.usage!
    assert.ok(residentBytes! < MAX_RESIDENT_BYTES, `${residentBytes! / MB} MB are resident`)
    assert.equal(await metric(server, 'berth_sessions_by_standby{standby="deep"}'), 1)
    assert.ok((await metric(server, 'berth_session_swapped_bytes{standby="deep"}')) > 50 * MB)
    await pause(2_000)
    const later = await get(server, id)
    assert.equal(later.usage!.uptime_ms, uptimeMs, 'no uptime while asleep')
    assert.equal(later.standby, 'deep', 'looking does not wake it')

    await assertIntact(url)
    const awake = await get(server, id)
    assert.ok(awake.usage!.last_wake_ms! > 0)
    assert.equal(await metric(server, 'berth_session_wakes_total{standby="deep"}'), 1)
    await untilDeep(server, id)
    await assertIntact(url)
    await client84(server).browsers.deleteByID(id)
    t.diagnostic(`${Math.round(residentBytes! / MB)} MB resident, first wake ${awake.usage!.last_wake_ms} ms`)
  })

  test('takes no processor time', skipsZram, async (t) => {
    await haveSwap(t)
    const server = await withZram(t)
    const { id, browser } = await createWithPage(server)
    await browser.close()
    await untilDeep(server, id)
    const [instanceId] = instanceDirs(server.dataDir)
    const before = cpuOf(instanceId!)
    await pause(2_000)
    assert.equal(cpuOf(instanceId!), before)
    await client84(server).browsers.deleteByID(id)
  })

  test('ends with the next command of a client that stayed connected', skipsZram, async (t) => {
    await haveSwap(t)
    const server = await withZram(t)
    // More than a busy machine takes for the command that makes the page: it would be frozen in the middle.
    const { id, browser } = await createWithPage(server, { standby_after_seconds: 10 })
    await untilDeep(server, id)
    assert.equal(await page(browser).evaluate('kept.length'), HEAP_ITEMS, 'the command wakes it')
    assert.equal((await get(server, id)).standby, undefined)
    await browser.close()
  })

  test('outlives its server: killed, stopped and started again, and nobody wakes', skipsZram, async (t) => {
    await haveSwap(t)
    const first = await withZram(t)
    const sessions: Awaited<ReturnType<typeof createWithPage>>[] = []
    for (const more of [{}, { telemetry: { enabled: true } }])
      sessions.push(await createWithPage(first, more))
    for (const { browser } of sessions) await browser.close()
    for (const { id } of sessions) await untilDeep(first, id)
    const env = { BERTH_PORT: new URL(first.url).port }
    await first.stop('SIGKILL')
    const second = await withZram(t, { dataDir: first.dataDir, env })
    for (const { id } of sessions) assert.equal((await get(second, id)).standby, 'deep', 'still asleep')
    await second.stop('SIGTERM')
    const third = await withZram(t, { dataDir: first.dataDir, env })
    // Longer than a reconciliation, which looks at every session.
    await pause(11_000)
    for (const { id } of sessions) {
      const { standby, usage } = await get(third, id)
      assert.equal(standby, 'deep')
      assert.ok(usage!.resident_bytes! < MAX_RESIDENT_BYTES)
    }
    for (const { url } of sessions) await assertIntact(url)
    await eventually('telemetry that goes on after the wake', async () => {
      const told = await third.fetch(`/browsers/${sessions[1]!.id}/telemetry/ndjson`)
      return (await told.text()).match(/"cdp_disconnect"/g)?.length === 2
    })
  })

  test('a session that falls asleep while its server is killed is whole', skipsZram, async (t) => {
    await haveSwap(t)
    const first = await withZram(t)
    const { url, browser } = await createWithPage(first)
    await browser.close()
    const swapped = () => metric(first, 'berth_session_swapped_bytes{standby="light"}')
    const deadline = performance.now() + 30_000
    // Its memory is on the way.
    while (!((await swapped()) > 0) && performance.now() < deadline) await pause(20)
    await first.stop('SIGKILL')
    const second = await withZram(t, { dataDir: first.dataDir, env: { BERTH_PORT: new URL(first.url).port } })
    await assertIntact(url)
    await second.stop('SIGINT')
  })

  test('leaves swap alone that nobody allowed, and uses what the operator names', skipsSwap, async (t) => {
    await haveSwap(t)
    const path = swapFile(t, { megabytes: 1024 })
    const first = await withZram(t, { env: { BERTH_DEEP_STANDBY_SWAP: 'auto' } })
    assert.match(first.output(), /also swaps to \/var\/tmp\/berth-test/)
    const status = await (await first.fetch('/status', { key: null })).text()
    assert.match(status, /"Deep standby","status":"degraded_performance".*also swaps to/)
    const { id, url, browser } = await createWithPage(first)
    await browser.close()
    await pause(10_000)
    assert.equal((await get(first, id)).standby, 'light')
    assert.equal(usedBytesOf(path), 0)
    await first.stop('SIGTERM')

    const second = await withZram(t, {
      dataDir: first.dataDir,
      env: { BERTH_DEEP_STANDBY_SWAP: path, BERTH_PORT: new URL(first.url).port },
    })
    const deep = await untilDeep(second, id)
    assert.ok(deep.usage!.resident_bytes! < MAX_RESIDENT_BYTES)
    assert.ok(usedBytesOf(path) > 50 * MB)
    await assertIntact(url)
  })

  test('a session for which there is no room stays in light standby', skipsZram, async (t) => {
    await haveSwap(t)
    const server = await withZram(t, { env: { BERTH_DEEP_STANDBY_SWAP_MB: '32' } })
    const { id, url, browser } = await createWithPage(server)
    await browser.close()
    const deadline = performance.now() + 30_000
    while ((await get(server, id)).standby !== 'light' && performance.now() < deadline) await pause(100)
    await pause(8_000)
    const { standby, usage } = await get(server, id)
    assert.equal(standby, 'light')
    assert.ok(usage!.resident_bytes! > 32 * MB)
    await assertIntact(url)
  })

  test('without swap it is off, and says so', async (t) => {
    const server = await startServer(t, { hasRealInstances: true })
    assert.equal(await metric(server, 'berth_deep_standby_available'), 0)
    const other = await startServer(t, {
      hasRealInstances: true,
      env: { BERTH_DEEP_STANDBY_SWAP: '/dev/none', BERTH_DEEP_STANDBY_SECONDS: '1' },
    })
    const status = await (await other.fetch('/status', { key: null })).text()
    assert.match(status, /"Deep standby".*(none of \/dev\/none is in use|cannot|only)/)
    assert.match(status, /^{"status":"operational"/, 'nothing is broken')
  })
})
