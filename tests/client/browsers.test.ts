// The resource `browsers` in each version of the published client. Instances are fake; tests/e2e uses real ones.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sharedServer } from '../fixtures/shared-server.ts'
import { client55, client70, client84 } from './versions.ts'

const fileOwner = { after }
const shared = await sharedServer(fileOwner)
const versions = { '0.55.0': client55, '0.70.0': client70, '0.84.0': client84 }

for (const [version, newClient] of Object.entries(versions)) {
  describe(`client ${version}`, () => {
    const { browsers } = newClient(shared)

    test('creates a session without options, with the defaults of the contract', async () => {
      const browser = await browsers.create()
      assert.match(browser.session_id, /^[a-z][a-z0-9]{23}$/)
      assert.equal(browser.headless, false)
      assert.equal(browser.stealth, false)
      assert.equal(browser.timeout_seconds, 60)
      assert.deepEqual(browser.viewport, { width: 1920, height: 1080, refresh_rate: 25 })
      assert.match(browser.cdp_ws_url, /^ws:\/\/127\.0\.0\.1:\d+\/browser\/cdp\?jwt=[\w.-]+$/)
      assert.match(browser.webdriver_ws_url, /^ws:\/\/[^?]+\/browser\/webdriver\/session\?jwt=[\w.-]+$/)
      assert.equal(browser.base_url, `${shared.url}/browser/kernel`)
      assert.equal(browser.deleted_at, undefined)
      await browsers.deleteByID(browser.session_id)
    })

    test('returns the requested options', async () => {
      const asked = {
        headless: true,
        kiosk_mode: true,
        timeout_seconds: 259_200,
        viewport: { width: 1280, height: 800 },
        start_url: 'https://example.com/a?b#c',
      }
      const browser = await browsers.create(asked)
      const { headless, kiosk_mode, timeout_seconds, viewport, start_url } = browser
      assert.deepEqual(
        { headless, kiosk_mode, timeout_seconds, viewport, start_url },
        { ...asked, viewport: { width: 1280, height: 800, refresh_rate: 60 } },
      )
      const found = await browsers.retrieve(browser.session_id)
      assert.equal(found.session_id, browser.session_id)
      assert.ok(found.usage!.uptime_ms >= 0)
      await browsers.deleteByID(browser.session_id)
    })

    test('ends a session, and shows it afterwards only in lists of ended ones', async () => {
      const { session_id: id } = await browsers.create({ headless: true })
      assert.equal(await browsers.deleteByID(id), null)
      await assert.rejects(browsers.retrieve(id), { status: 404 })
      const ended = await browsers.retrieve(id, { include_deleted: true })
      assert.ok(Date.parse(ended.deleted_at!) >= Date.parse(ended.created_at))
      assert.equal((ended as { end_reason?: string }).end_reason, 'deleted')
      assert.equal(await browsers.deleteByID(id), null, 'ending twice is success')
    })

    test('lists sessions page by page to the end', async () => {
      const ids = []
      for (let index = 0; index < 5; index++) {
        ids.unshift((await browsers.create({ headless: true })).session_id)
      }
      for (const limit of [1, 2, 5, 100]) {
        const all = await Array.fromAsync(browsers.list({ limit }))
        assert.deepEqual(
          all.map((browser) => browser.session_id),
          ids,
          `limit ${limit}`,
        )
      }
      for (const id of ids) await browsers.deleteByID(id)
    })
  })
}

test('client 0.84.0 names and tags sessions, and finds them by both', async () => {
  const { browsers } = client84(shared)
  const first = await browsers.create({ name: 'checkout-1', tags: { team: 'a', env: 'test' } })
  const second = await browsers.create({ name: 'checkout-2', tags: { team: 'b', env: 'test' } })
  const found = async (query: Parameters<typeof browsers.list>[0]) =>
    (await Array.fromAsync(browsers.list(query))).map((browser) => browser.name)

  assert.equal((await browsers.retrieve('checkout-1')).session_id, first.session_id)
  assert.deepEqual(await found({ tags: { env: 'test' } }), ['checkout-2', 'checkout-1'])
  assert.deepEqual(await found({ tags: { env: 'test', team: 'b' } }), ['checkout-2'])
  assert.deepEqual(await found({ query: 'KOUT-1' }), ['checkout-1'])
  assert.deepEqual(await found({ query: second.session_id.slice(4, 20) }), ['checkout-2'])
  assert.deepEqual(await found({ query: '%' }), [])
  await assert.rejects(browsers.create({ name: 'checkout-1' }), { status: 409 })

  const renamed = await browsers.update('checkout-1', { name: 'paid', tags: { done: 'yes' } })
  assert.deepEqual([renamed.name, renamed.tags], ['paid', { done: 'yes' }])
  const bare = await browsers.update(first.session_id, { name: '', tags: {} })
  assert.deepEqual([bare.name, bare.tags], [undefined, undefined])
  await browsers.deleteByID('checkout-2')
  await browsers.create({ name: 'checkout-2' }).then(({ session_id }) => browsers.deleteByID(session_id))
  await browsers.deleteByID(first.session_id)
  const ended = await Array.fromAsync(browsers.list({ status: 'deleted', query: 'checkout-2' }))
  assert.equal(ended.length, 2)
  assert.deepEqual(await found({}), [])
})

test('client 0.84.0 resizes a live session', async () => {
  const { browsers } = client84(shared)
  const { session_id: id } = await browsers.create({ headless: true })
  const { viewport } = await browsers.update(id, { viewport: { width: 800, height: 600 } })
  assert.deepEqual(viewport, { width: 800, height: 600, refresh_rate: 60 })
  assert.deepEqual((await browsers.retrieve(id)).viewport, viewport)
  await browsers.deleteByID(id)
})

test('client 0.55.0 may delete a persistent session, although there are none', async () => {
  assert.equal(await client55(shared).browsers.delete({ persistent_id: 'mine' }), null)
})
