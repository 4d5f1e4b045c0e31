// What the browsers of a pool start with: the last saved version of a profile, and policies, which only Chromium
// sees.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { everything, join, knownAt, nothing, startMemberSite } from '../fixtures/member-site.ts'
import { acquire, createPool, filled, pooledRows, readPool, release } from '../fixtures/pools.ts'
import { createProfile, endSession, whenSaved } from '../fixtures/profiles.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'

const owner = { after }
const site = await startMemberSite(owner)
const server = await startServer(owner, { hasRealInstances: true, env: site.allow })

async function saveAs(profileId: string, name: string): Promise<void> {
  const session = await createSession(server, {
    headless: true,
    profile: { id: profileId, save_changes: true },
  })
  await withCdp(session.cdp_ws_url, (cdp) => join(cdp, site, name))
  await endSession(server, session.session_id)
  await whenSaved(server, session.session_id)
}

test('a pool leases browsers that are logged in by its profile, and replaces them when it is saved', async () => {
  const { id: profileId } = await createProfile(server, 'members')
  await saveAs(profileId, 'ada')
  const pool = await createPool(server, { size: 2, profile: { name: 'members' } })
  await filled(server, pool, 2)
  const first = await acquire(server, pool)
  assert.deepEqual(await withCdp(first.cdp_ws_url, (cdp) => knownAt(cdp, site)), everything('ada'))
  const waiting = (await pooledRows(server, pool)).filter(
    ({ end_reason, id }) => end_reason === null && id !== first.session_id,
  )
  assert.equal(waiting.length, 1)

  await saveAs(profileId, 'grace')
  await eventually('what waited is made anew', async () =>
    (await pooledRows(server, pool)).some(
      ({ id, end_reason }) => id === waiting[0]!.id && end_reason !== null,
    ),
  )
  const second = await acquire(server, pool)
  assert.deepEqual(await withCdp(second.cdp_ws_url, (cdp) => knownAt(cdp, site)), everything('grace'))
  assert.deepEqual(
    await withCdp(first.cdp_ws_url, (cdp) => knownAt(cdp, site)),
    everything('ada'),
    'a leased browser is not replaced',
  )
  assert.equal((await send(server, 'DELETE', `/browser_pools/${pool.id}`, { force: true })).status, 204)
})

test('a reset clears caches, workers and permissions', async () => {
  const pool = await createPool(server)
  const first = await acquire(server, pool)
  const state = `navigator.permissions.query({ name: 'geolocation' }).then(({ state }) => state)`
  await withCdp(first.cdp_ws_url, async (cdp) => {
    await join(cdp, site, 'eve')
    await cdp.call('Browser.grantPermissions', { origin: site.url, permissions: ['geolocation'] })
    assert.equal(await cdp.evaluate(state), 'granted')
  })
  await release(server, first, { reset: true })
  const second = await acquire(server, pool)
  await withCdp(second.cdp_ws_url, async (cdp) => {
    assert.deepEqual(await knownAt(cdp, site), nothing)
    assert.equal(await cdp.evaluate(`caches.keys().then((names) => names.length)`), 0)
    assert.notEqual(await cdp.evaluate(state), 'granted')
  })
  assert.equal((await send(server, 'DELETE', `/browser_pools/${pool.id}`, { force: true })).status, 204)
})

test('policies of a pool apply and are shown, and are encrypted in the database', async () => {
  const chrome_policy = { URLBlocklist: ['secret-intranet.example'], BookmarkBarEnabled: true }
  const pool = await createPool(server, { chrome_policy })
  assert.deepEqual(pool.browser_pool_config.chrome_policy, chrome_policy)
  const leased = await acquire(server, pool)
  await withCdp(leased.cdp_ws_url, async (cdp) => {
    const { errorText } = await cdp.callPage<{ errorText?: string }>('Page.navigate', {
      url: 'http://secret-intranet.example/',
    })
    assert.equal(errorText, 'net::ERR_BLOCKED_BY_ADMINISTRATOR')
  })
  const rows = await query<{ row: string }>(server, 'SELECT browser_pools::text AS row FROM browser_pools')
  assert.ok(rows.length > 0 && rows.every(({ row }) => !row.includes('secret-intranet')))

  const changed = { URLBlocklist: ['another.example'] }
  const path = `/browser_pools/${pool.id}`
  assert.equal((await send(server, 'PATCH', path, { size: 2 })).status, 200)
  assert.deepEqual((await readPool(server, pool)).browser_pool_config.chrome_policy, chrome_policy)
  assert.equal((await send(server, 'PATCH', path, { chrome_policy: changed })).status, 200)
  const { body: listed } = await send<(typeof pool)[]>(server, 'GET', '/browser_pools')
  const found = listed.find(({ id }) => id === pool.id)
  assert.deepEqual(found?.browser_pool_config.chrome_policy, changed)
  assert.equal((await send(server, 'PATCH', path, { chrome_policy: {} })).status, 200)
  assert.equal((await readPool(server, pool)).browser_pool_config.chrome_policy, undefined)
  assert.equal((await send(server, 'DELETE', path, { force: true })).status, 204)
})
