// Two servers in Pods of the cluster, installed by the chart: all that the published client does, through the Service.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { toFile } from 'kernel-sdk-0-84'
import { chromium, type Page } from 'playwright-core'
import { client84 } from '../../client/versions.ts'
import { tinyApp, zipOf } from '../../fixtures/apps.ts'
import { cleanUpAfter, type Owner } from '../../fixtures/cleanup.ts'
import { decodePng } from '../../fixtures/decode-png.ts'
import { eventually } from '../../fixtures/host.ts'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { startZoo } from '../../fixtures/login-zoo/zoo.ts'
import { classicForm } from '../../fixtures/login-zoo/sites/classic-form.ts'
import { RfbClient, screenUrl } from '../../fixtures/rfb.ts'
import { readSession, send } from '../../fixtures/sessions.ts'
import { probe } from '../../fixtures/video.ts'
import { Fleet } from './fleet.ts'
import { machine } from './machine.ts'

const TEST_MS = 300_000
const owner = { after }
const site = await startVisitedSite(owner)
const user = newUser('harbour')
const zoo = await startZoo(
  owner,
  [{ ...classicForm, host: machine, users: [user], hasSecondFactors: false }],
  machine,
)
const fleet = await Fleet.install(owner, {
  hasBucket: true,
  settings: { BERTH_EGRESS_ALLOW: `${machine}:*` },
})
const client = client84(fleet)

test(
  'both servers are ready, on different nodes, and each answers for both',
  { timeout: TEST_MS },
  async () => {
    const servers = await fleet.servers()
    assert.equal(servers.length, 2)
    assert.equal(new Set(servers.map(({ spec }) => spec.nodeName)).size, 2)
    const session = await client.browsers.create({ headless: true })
    for (const server of servers) {
      const found = await client84(fleet.at(server)).browsers.retrieve(session.session_id)
      assert.equal(found.session_id, session.session_id)
      const { exit_code: code } = await client84(fleet.at(server)).browsers.process.exec(session.session_id, {
        command: 'true',
      })
      assert.equal(code, 0)
    }
    await client.browsers.deleteByID(session.session_id)
  },
)

for (const headless of [true, false]) {
  const kind = headless ? 'headless' : 'headful'
  test(
    `a ${kind} session: pages, programs, a screenshot, and a live view`,
    { timeout: TEST_MS },
    async () => {
      const session = await client.browsers.create({ headless, viewport: { width: 1024, height: 768 } })
      const { session_id: id } = session
      const browser = await chromium.connectOverCDP(session.cdp_ws_url)
      const page = browser.contexts()[0]!.pages()[0]!
      assert.equal(await page.evaluate('6 * 7'), 42)
      await page.goto(site.url)
      assert.equal(await page.title(), 'Visited')
      const whoami = await client.browsers.process.exec(id, { command: 'id', args: ['-un'] })
      assert.equal(
        Buffer.from(whoami.stdout_b64 ?? '', 'base64')
          .toString()
          .trim(),
        'kernel',
      )
      const shot = decodePng(
        Buffer.from(await (await client.browsers.computer.captureScreenshot(id)).arrayBuffer()),
      )
      assert.ok(shot.width >= 1024, `${shot.width}`)
      if (!headless) await watch(session.browser_live_view_url!)
      await browser.close()
      await client.browsers.deleteByID(id)
      assert.equal((await readSession(fleet, id)).end_reason, 'deleted')
    },
  )
}

test('a recording is made, stopped, and downloaded from the other server', { timeout: TEST_MS }, async () => {
  const session = await client.browsers.create({ headless: true })
  const { session_id: id } = session
  const { replay_id: replay } = await client.browsers.replays.start(id, { framerate: 10 })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.goto(site.url)
  for (const colour of ['red', 'green', 'blue']) {
    await page.evaluate(`document.body.style.background = '${colour}'`)
    await page.waitForTimeout(500)
  }
  await browser.close()
  await client.browsers.replays.stop(replay, { id })
  for (const server of await fleet.servers()) {
    const { replays } = client84(fleet.at(server)).browsers
    let video: Buffer | undefined
    await eventually('the video is there', async () => {
      const answer = await replays.download(replay, { id })
      if (answer.status === 200) video = Buffer.from(await answer.arrayBuffer())
      return video !== undefined
    })
    assert.equal(probe(video!).streams[0]!.codec_name, 'h264')
  }
  await client.browsers.deleteByID(id)
})

test('a profile that one server saved is used by the other', { timeout: TEST_MS }, async () => {
  const [one, other] = (await fleet.servers()).map((server) => client84(fleet.at(server)))
  await one!.profiles.create({ name: 'visitor' })
  const first = await one!.browsers.create({
    headless: true,
    profile: { name: 'visitor', save_changes: true },
  })
  const known = await nameAt(first.cdp_ws_url)
  await one!.browsers.deleteByID(first.session_id)
  await eventually('the profile is saved', async () => {
    const { profile_save } = (await readSession(fleet, first.session_id)) as {
      profile_save?: { state: string }
    }
    return profile_save?.state === 'saved'
  })
  const second = await other!.browsers.create({ headless: true, profile: { name: 'visitor' } })
  assert.equal(await nameAt(second.cdp_ws_url), known)
  await other!.browsers.deleteByID(second.session_id)
})

test('a pool lends a browser, and gets it back', { timeout: TEST_MS }, async () => {
  const pool = await client.browserPools.create({ size: 2, headless: true, fill_rate_per_minute: 10_000 })
  const leased = await client.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 })
  const browser = await chromium.connectOverCDP(leased.cdp_ws_url)
  assert.equal(await browser.contexts()[0]!.pages()[0]!.evaluate('6 * 7'), 42)
  await browser.close()
  await client.browserPools.release(pool.id, { session_id: leased.session_id })
  const full = async () => (await client.browserPools.retrieve(pool.id)).available_count === 2
  await eventually('the pool is full again', full, 120_000)
  await client.browserPools.delete(pool.id, { force: true })
})

test('an app is deployed through one server, and runs', { timeout: TEST_MS }, async () => {
  const files = tinyApp('sums', { add: 'async (_context, { a, b }) => a + b' })
  const { id } = await client.deployments.create({
    file: await toFile(zipOf(files), 'app.zip'),
    entrypoint_rel_path: 'index.js',
  })
  for await (const event of await client.deployments.follow(id)) {
    if (event.event !== 'deployment_state') continue
    assert.notEqual(event.deployment.status, 'failed', event.deployment.status_reason)
    if (event.deployment.status === 'running') break
  }
  for (const server of await fleet.servers()) {
    const done = await client84(fleet.at(server)).invocations.create({
      app_name: 'sums',
      action_name: 'add',
      version: 'latest',
      payload: JSON.stringify({ a: 2, b: 40 }),
    })
    assert.equal(done.output, '42', done.status_reason ?? '')
  }
  // Its instances would wait for more.
  await client.deployments.delete(id)
})

test('a connection logs in at a site that only the servers reach', { timeout: TEST_MS }, async () => {
  const { connections } = client.auth
  const { domain } = zoo.site('classic-form')
  const { id } = await connections.create({ domain, profile_name: 'harbour' })
  await connections.login(id)
  for await (const event of await connections.follow(id)) {
    if (event.event !== 'managed_auth_state') continue
    if (event.flow_status !== 'IN_PROGRESS') break
    if (event.flow_step !== 'AWAITING_INPUT') continue
    const fields = Object.fromEntries(
      (event.discovered_fields ?? []).map(({ name, type }) => [
        name,
        type === 'password' ? user.password : user.username,
      ]),
    )
    await connections.submit(id, { fields })
  }
  const done = await connections.retrieve(id)
  assert.equal(done.flow_status, 'SUCCESS', JSON.stringify(done))
  assert.equal(done.status, 'AUTHENTICATED')
})

test(
  'standby is refused with the reason, and nothing is left of all sessions',
  { timeout: TEST_MS },
  async () => {
    const refused = await send(fleet, 'POST', '/browsers', { headless: true, standby_after_seconds: 5 })
    assert.equal(refused.status, 400)
    assert.match(refused.body.message!, /no helper that freezes them/)
    await fleet.assertNothingLeft()
  },
)

/** Connects as a viewer does, until a picture of the whole screen has come. */
async function watch(url: string): Promise<void> {
  assert.equal((await fetch(url)).status, 200)
  const viewer = await RfbClient.overWebSocket(screenUrl(url), { isContinuous: true })
  await eventually('a picture comes', () => viewer.updates > 0 && viewer.bytes > 1_000)
  assert.deepEqual([viewer.width, viewer.height], [1024, 768])
  await viewer.close()
}

/** How the site calls this browser. */
async function nameAt(cdpUrl: string): Promise<string> {
  const browser = await chromium.connectOverCDP(cdpUrl)
  const page: Page = browser.contexts()[0]!.pages()[0]!
  await page.goto(site.url)
  const name = await page.locator('#name').innerText()
  await browser.close()
  return name
}

/** Names each browser once, in a cookie. It listens where Pods of servers reach it. */
async function startVisitedSite(of: Owner): Promise<{ readonly url: string }> {
  let count = 0
  const server = createServer((request, response) => {
    const name = /name=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? `visitor${++count}`
    response.writeHead(200, {
      'content-type': 'text/html',
      'set-cookie': `name=${name}; Max-Age=86400; Path=/`,
    })
    response.end(`<!doctype html><title>Visited</title><body><p id="name">${name}</p>`)
  })
  server.listen(0, machine)
  await once(server, 'listening')
  cleanUpAfter(of, async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { url: `http://${machine}:${(server.address() as AddressInfo).port}/` }
}
