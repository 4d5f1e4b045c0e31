// The resource `browserPools` in each version of the published client. Instances are fake; tests/e2e uses real ones.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { client55, client70, client84 } from './versions.ts'

const fileOwner = { after }
const shared = await sharedServer(fileOwner)
const versions = { '0.55.0': client55, '0.70.0': client70, '0.84.0': client84 }
const atOnce = { headless: true, fill_rate_per_minute: 10_000 }

for (const [version, newClient] of Object.entries(versions)) {
  describe(`client ${version}`, () => {
    const { browserPools, browsers } = newClient(shared)
    const available = async (id: string) => (await browserPools.retrieve(id)).available_count

    test('creates a pool with the defaults of the contract, changes and deletes it', async () => {
      const pool = await browserPools.create({ size: 1 })
      assert.match(pool.id, /^[a-z][a-z0-9]{23}$/)
      assert.equal(pool.name, undefined)
      assert.deepEqual(pool.browser_pool_config, {
        size: 1,
        fill_rate_per_minute: 25,
        timeout_seconds: 600,
        headless: false,
        stealth: false,
        kiosk_mode: false,
      })
      assert.equal(pool.acquired_count, 0)
      assert.ok(Date.parse(pool.created_at) > 0)
      assert.deepEqual((pool as { extension_ids?: unknown }).extension_ids, [])

      const name = `named-${version}`
      const viewport = { width: 1280, height: 800 }
      const changed = await browserPools.update(pool.id, {
        size: 2,
        name,
        timeout_seconds: 60,
        fill_rate_per_minute: 100,
        headless: true,
        viewport,
        start_url: 'https://example.com/',
      })
      assert.equal(changed.name, name)
      assert.deepEqual(changed.browser_pool_config, {
        size: 2,
        name,
        fill_rate_per_minute: 100,
        timeout_seconds: 60,
        headless: true,
        stealth: false,
        kiosk_mode: false,
        viewport,
        start_url: 'https://example.com/',
      })
      assert.equal((await browserPools.retrieve(name)).id, pool.id)
      const cleared = await browserPools.update(name, { size: 2, name: '', start_url: '' })
      assert.equal(cleared.name, name)
      assert.equal(cleared.browser_pool_config.start_url, undefined)
      await assert.rejects(browserPools.create({ size: 1, name }), { status: 409 })
      assert.equal(await browserPools.delete(name), null)
      await assert.rejects(browserPools.retrieve(pool.id), { status: 404 })
      assert.equal(await browserPools.delete(pool.id), null, 'deleting twice is success')
    })

    test('leases a browser, which is a session during the lease, and releases it', async () => {
      const pool = await browserPools.create({
        size: 1,
        name: `lent-${version}`,
        timeout_seconds: 120,
        ...atOnce,
      })
      await eventually('the pool is filled', async () => (await available(pool.id)) === 1)
      assert.deepEqual(await Array.fromAsync(browsers.list()), [], 'one that waits is nobody’s session')

      const browser = await browserPools.acquire(pool.id, {})
      assert.equal(browser.timeout_seconds, 120)
      assert.deepEqual(browser.pool, { id: pool.id, name: `lent-${version}` })
      assert.match(browser.cdp_ws_url, /^ws:\/\/127\.0\.0\.1:\d+\/browser\/cdp\?jwt=[\w.-]+$/)
      const leased = await browserPools.retrieve(pool.id)
      assert.deepEqual([leased.available_count, leased.acquired_count], [0, 1])
      assert.equal((await browsers.retrieve(browser.session_id)).session_id, browser.session_id)
      assert.deepEqual(
        (await Array.fromAsync(browsers.list())).map((each) => each.session_id),
        [browser.session_id],
      )
      await assert.rejects(browserPools.delete(pool.id), { status: 400 })
      assert.equal(await browserPools.acquire(pool.id, { acquire_timeout_seconds: 0 }), null)

      assert.equal(await browserPools.release(pool.id, { session_id: browser.session_id }), null)
      await assert.rejects(browsers.retrieve(browser.session_id), { status: 404 })
      assert.equal(await browserPools.release(pool.id, { session_id: browser.session_id }), null, 'again')
      const again = await browserPools.acquire(pool.id, { acquire_timeout_seconds: 5 })
      assert.equal(again.session_id, browser.session_id, 'the same one')
      assert.notEqual(again.cdp_ws_url, browser.cdp_ws_url)

      await browserPools.release(pool.id, { session_id: again.session_id, reuse: false })
      const fresh = await browserPools.acquire(pool.id, { acquire_timeout_seconds: 30 })
      assert.notEqual(fresh.session_id, browser.session_id, 'another one')
      const ended = await browsers.retrieve(again.session_id, { include_deleted: true })
      assert.equal((ended as { end_reason?: string }).end_reason, 'released')
      await browserPools.delete(pool.id, { force: true })
      await assert.rejects(browsers.retrieve(fresh.session_id), { status: 404 })
    })

    test('flushes waiting browsers, and keeps leased ones', async () => {
      const pool = await browserPools.create({ size: 2, ...atOnce })
      await eventually('the pool is filled', async () => (await available(pool.id)) === 2)
      const kept = await browserPools.acquire(pool.id, {})
      const before = await browserPools.acquire(pool.id, {})
      await browserPools.release(pool.id, { session_id: before.session_id })
      assert.equal(await browserPools.flush(pool.id), null)
      const fresh = await browserPools.acquire(pool.id, { acquire_timeout_seconds: 30 })
      assert.ok(![kept.session_id, before.session_id].includes(fresh.session_id))
      assert.equal((await browsers.retrieve(kept.session_id)).session_id, kept.session_id)
      await browserPools.delete(pool.id, { force: true })
    })
  })
}

test('each version of the client gets complete lists', async () => {
  const { browserPools } = client84(shared)
  const names = ['list-a', 'list-b', 'list-c']
  for (const name of names)
    await browserPools.create({ size: 1, name, headless: true, fill_rate_per_minute: 0 })
  const newestFirst = names.toReversed()
  // It does not page, and gets the first page.
  assert.deepEqual(
    (await client55(shared).browserPools.list()).map((pool) => pool.name),
    newestFirst,
  )
  for (const client of [client70(shared), client84(shared)]) {
    for (const limit of [1, 2, 100]) {
      const pools: AsyncIterable<{ name?: string }> = client.browserPools.list({ limit })
      const all = await Array.fromAsync(pools)
      assert.deepEqual(
        all.map((pool) => pool.name),
        newestFirst,
      )
    }
  }
  const found = async (query: Parameters<typeof browserPools.list>[0]) =>
    (await Array.fromAsync(browserPools.list(query))).map((pool) => pool.name)
  assert.deepEqual(await found({ query: 'LIST-B' }), ['list-b'])
  assert.deepEqual(await found({ name: 'list-c' }), ['list-c'])
  assert.deepEqual(await found({ name: 'list' }), [])
  assert.deepEqual(await found({ query: '%' }), [])
  const { id } = await browserPools.retrieve('list-a')
  assert.deepEqual(await found({ query: id }), ['list-a'])
  for (const name of names) await browserPools.delete(name)
})

test('client 0.84.0 names, tags and captures a lease, and all of it ends with the lease', async () => {
  const { browserPools, browsers } = client84(shared)
  const pool = await browserPools.create({
    size: 1,
    name: 'tagged',
    ...atOnce,
    telemetry: { browser: { console: { enabled: true } } },
  })
  assert.equal(pool.browser_pool_config.telemetry?.browser?.console?.enabled, true)
  const leased = await browserPools.acquire('tagged', {
    acquire_timeout_seconds: 30,
    name: 'checkout',
    tags: { team: 'a' },
    start_url: 'https://example.com/cart',
    telemetry: { browser: { network: { enabled: true } } },
  })
  assert.deepEqual([leased.name, leased.tags], ['checkout', { team: 'a' }])
  assert.equal(leased.start_url, 'https://example.com/cart')
  assert.equal(leased.telemetry?.browser?.network?.enabled, true)
  assert.equal(leased.telemetry?.browser?.console?.enabled, true, 'as the pool has it')
  assert.equal((await browsers.retrieve('checkout')).session_id, leased.session_id)
  assert.deepEqual(
    (await Array.fromAsync(browsers.list({ query: 'tagg' }))).map(({ session_id }) => session_id),
    [leased.session_id],
    'found by the name of its pool',
  )
  await browserPools.release('tagged', { session_id: leased.session_id })
  const next = await browserPools.acquire('tagged', { acquire_timeout_seconds: 5 })
  assert.equal(next.session_id, leased.session_id)
  assert.deepEqual([next.name, next.tags, next.start_url], [undefined, undefined, undefined])
  assert.equal(next.telemetry?.browser?.network?.enabled, false)
  assert.equal(next.telemetry?.browser?.console?.enabled, true)

  const other = await browsers.create({ headless: true, name: 'taken' })
  await browserPools.release('tagged', { session_id: next.session_id })
  await assert.rejects(browserPools.acquire('tagged', { name: 'taken' }), { status: 409 })
  assert.equal((await browserPools.retrieve('tagged')).available_count, 1, 'and nothing was leased')
  await browsers.deleteByID(other.session_id)
  await browserPools.delete('tagged')
})

test('client 0.84.0 waits for its timeout, and gets null', async () => {
  const { browserPools } = client84(shared)
  const pool = await browserPools.create({ size: 1, headless: true, fill_rate_per_minute: 0 })
  const asked = performance.now()
  assert.equal(await browserPools.acquire(pool.id, { acquire_timeout_seconds: 1 }), null)
  const waited = performance.now() - asked
  assert.ok(waited >= 990 && waited < 5_000, `${waited} ms`)
  await browserPools.delete(pool.id)
})
