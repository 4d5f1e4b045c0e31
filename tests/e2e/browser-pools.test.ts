// Real browsers of a pool, lease after lease: what the next lease finds, and what it does not.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { CdpClient, Refused, withCdp } from '../fixtures/cdp.ts'
import { eventually, instanceDirs } from '../fixtures/host.ts'
import { killParts } from '../fixtures/parts.ts'
import { acquire, createPool, filled, pooledRows, readPool, release } from '../fixtures/pools.ts'
import { startServer } from '../fixtures/server.ts'
import { instanceOf, metric, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const owner = { after }
const site = await startSite(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { BERTH_WARM_HEADLESS: '1', ...site.allow },
})

/** What a lease may leave behind in a browser. */
const LEAVE = `(async () => {
  document.cookie = 'login=secret; max-age=3600'
  localStorage.setItem('login', 'secret')
  sessionStorage.setItem('login', 'secret')
  globalThis.left = 'secret'
  await new Promise((resolve, reject) => {
    const opening = indexedDB.open('login', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('login').put('secret', 'login')
    opening.onsuccess = resolve
    opening.onerror = reject
  })
})()`

const LOOK = `(async () => ({
  cookie: document.cookie,
  localStorage: localStorage.getItem('login'),
  sessionStorage: sessionStorage.getItem('login'),
  global: globalThis.left ?? null,
  databases: (await indexedDB.databases()).length,
}))()`

interface Found {
  readonly cookie: string
  readonly localStorage: string | null
  readonly sessionStorage: string | null
  readonly global: string | null
  readonly databases: number
}

async function go(cdp: CdpClient, url: string): Promise<void> {
  await cdp.callPage('Page.navigate', { url })
  await eventually(`a page of ${url}`, async () =>
    cdp.evaluate<boolean>(`location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`),
  )
}

async function pagesOf(cdp: CdpClient): Promise<string[]> {
  const { targetInfos } = await cdp.call<{ targetInfos: { type: string; url: string }[] }>(
    'Target.getTargets',
  )
  return targetInfos.filter(({ type }) => type === 'page').map(({ url }) => url)
}

async function leaveTraces(url: string, sessionId: string): Promise<void> {
  await withCdp(url, async (cdp) => {
    await go(cdp, `${site.url}/`)
    await cdp.evaluate(LEAVE)
    await cdp.call('Target.createTarget', { url: `${site.url}/popup` })
  })
  const write = await server.fetch(`/browsers/${sessionId}/fs/write_file?path=/home/kernel/left.txt`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: 'secret',
  })
  assert.equal(write.status, 201, await write.text())
  const spawned = await send(server, 'POST', `/browsers/${sessionId}/process/spawn`, {
    command: 'sleep',
    args: ['1000'],
  })
  assert.equal(spawned.status, 200, JSON.stringify(spawned.body))
}

const lists = async (sessionId: string) =>
  (await server.fetch(`/browsers/${sessionId}/fs/file_info?path=/home/kernel/left.txt`)).status === 200

const isRefused = (error: unknown) => error instanceof Refused && error.status === 404

test('released for reuse, a browser is the same for the next lease, and closed to the previous one', async () => {
  const pool = await createPool(server, { start_url: `${site.url}/inner` })
  await filled(server, pool, 1)
  const first = await acquire(server, pool, { name: 'first' })
  await withCdp(first.cdp_ws_url, async (cdp) => {
    await eventually('it shows the page of its pool', async () =>
      (await pagesOf(cdp)).includes(`${site.url}/inner`),
    )
  })
  await leaveTraces(first.cdp_ws_url, first.session_id)
  const recording = await send<{ replay_id: string }>(server, 'POST', `/browsers/${first.session_id}/replays`)
  assert.equal(recording.status, 201)
  const resized = await send(server, 'PATCH', `/browsers/${first.session_id}`, {
    viewport: { width: 800, height: 600, force: true },
  })
  assert.equal(resized.status, 200, JSON.stringify(resized.body))
  const client = await CdpClient.open(first.cdp_ws_url)
  await release(server, first)
  assert.deepEqual(await client.closed(), { code: 4007, reason: 'session released' })
  await assert.rejects(CdpClient.open(first.cdp_ws_url), isRefused)

  const startUrl = `${site.url}/inner?of-the-lease`
  const second = await acquire(server, pool, { start_url: startUrl })
  assert.equal(second.session_id, first.session_id)
  assert.equal(second.name, undefined)
  await assert.rejects(CdpClient.open(first.cdp_ws_url), isRefused)
  await withCdp(second.cdp_ws_url, async (cdp) => {
    await eventually('it shows the page of the lease', async () => (await pagesOf(cdp)).includes(startUrl))
    assert.equal((await pagesOf(cdp)).length, 2, 'tabs stay')
    const page = await cdp.evaluate<Found & { size: number[] }>(
      `(${LOOK}).then((found) => ({ ...found, size: [innerWidth, innerHeight] }))`,
    )
    assert.equal(page.cookie, 'login=secret')
    assert.equal(page.localStorage, 'secret')
    assert.equal(page.databases, 1)
    assert.deepEqual(page.size, [1920, 1080], 'the viewport is that of the pool again')
  })
  assert.equal(await lists(second.session_id), true)
  const replays = await send<{ finished_at: string | null }[]>(
    server,
    'GET',
    `/browsers/${second.session_id}/replays`,
  )
  assert.ok(replays.body.length > 0 && replays.body.every(({ finished_at }) => finished_at !== null))
  await send(server, 'DELETE', `/browser_pools/${pool.id}`, { force: true })
})

test('released with a reset, a browser is completely clean for the next lease, without a restart', async () => {
  const pool = await createPool(server)
  await filled(server, pool, 1)
  const first = await acquire(server, pool)
  await leaveTraces(first.cdp_ws_url, first.session_id)
  await eventually('one is held ready', async () => {
    return (await metric(server, 'berth_warm_instances{kind="headless"}')) === 1
  })
  const before = instanceDirs(server.dataDir)
  await release(server, first, { reset: true })
  assert.equal((await readPool(server, pool)).available_count, 1)
  const second = await acquire(server, pool, { acquire_timeout_seconds: 0 })
  assert.notEqual(second.session_id, first.session_id)
  assert.ok(before.includes(await instanceOf(server, second)), 'it was there already')
  await withCdp(second.cdp_ws_url, async (cdp) => {
    assert.deepEqual(await pagesOf(cdp), ['about:blank'])
    await go(cdp, `${site.url}/`)
    assert.deepEqual(await cdp.evaluate<Found>(LOOK), {
      cookie: '',
      localStorage: null,
      sessionStorage: null,
      global: null,
      databases: 0,
    })
  })
  assert.equal(await lists(second.session_id), false)
  const { body } = await send<{ stdout_b64: string }>(
    server,
    'POST',
    `/browsers/${second.session_id}/process/exec`,
    { command: 'sh', args: ['-c', 'cat /proc/[0-9]*/cmdline | tr "\\\\0" " "'] },
  )
  assert.doesNotMatch(Buffer.from(body.stdout_b64, 'base64').toString(), /sleep 1000/)
  await eventually('nothing of the first is left', () => {
    return instanceDirs(server.dataDir).length <= before.length
  })
  await send(server, 'DELETE', `/browser_pools/${pool.id}`, { force: true })
})

/** Nobody waits for the new one, so it starts in the idle class, which gets only what all others on the machine leave. */
const REPLACED_WITHIN_MS = 180_000

test('a waiting browser that dies is replaced and never leased', async () => {
  const pool = await createPool(server, { size: 2 })
  await filled(server, pool, 2)
  const [dying] = await pooledRows(server, pool)
  killParts(dying!.instance_id, 'agent')
  const isReplaced = async () => {
    const rows = await pooledRows(server, pool)
    const live = rows.filter(({ state }) => state === 'ready' || state === 'standby')
    return live.length === 2 && live.every(({ id }) => id !== dying!.id)
  }
  await eventually('it is replaced', isReplaced, REPLACED_WITHIN_MS)
  const leased = [await acquire(server, pool), await acquire(server, pool)]
  for (const session of leased) {
    assert.equal(await withCdp(session.cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
  }
  await send(server, 'DELETE', `/browser_pools/${pool.id}`, { force: true })
})
