// Pools on two servers over one database: sizes, leases, queues, rates and access. Instances are fake.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client } from 'pg'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import { newId } from '@berth/kit/ids'
import { refreshPoolsOf } from '@berth/server/sessions/pools/refresh'
import { insertPool } from '@berth/server/sessions/pools/store'
import { insertProject } from '@berth/server/tenancy/projects/store'
import { CdpClient, Refused } from '../fixtures/cdp.ts'
import { startDatabase } from '../fixtures/database.ts'
import { eventually } from '../fixtures/host.ts'
import {
  acquire,
  countWaiters,
  createPool,
  filled,
  pooledRows,
  readPool,
  release,
  tryAcquire,
  type LeasedSession,
} from '../fixtures/pools.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { createSession, endsAs, query, readSession, send } from '../fixtures/sessions.ts'

const owner = { after }
const masterKey = Buffer.alloc(32, 9).toString('base64')
const firstKey = 'sk_poolsserver0_abcdefghijklmnopqrstuvwxyz012345'

const { url } = await newDatabase(owner)
const env = { DATABASE_URL: url, BERTH_MASTER_KEY: masterKey, BERTH_API_KEY: firstKey }
const one = await startServer(owner, { env })
const other = await startServer(owner, { env })
/** A server with its own database and few places. */
const server = await startServer(owner, {
  env: { BERTH_MAX_POOLED_SESSIONS: '10', BERTH_MAX_CONCURRENT_SESSIONS: '12' },
})

const inProject = (id: string) => ({ 'x-kernel-project-id': id })

const remove = (at: TestServer, { id }: Pick<BrowserPool, 'id'>) =>
  send(at, 'DELETE', `/browser_pools/${id}`, { force: true })

async function flushed(pool: Pick<BrowserPool, 'id'>): Promise<void> {
  assert.equal((await send(one, 'POST', `/browser_pools/${pool.id}/flush`)).status, 204)
  await filled(one, pool, 1)
}

const isRefused = (error: unknown) => error instanceof Refused && error.status === 404

const through = (at: TestServer, address: string) => {
  const moved = new URL(address)
  moved.host = new URL(at.url).host
  return moved.href
}

describe('two servers', () => {
  const fleet = [one, other]

  test('parallel acquires on both servers lease each browser once, and the others get none', async () => {
    const pool = await createPool(one, { size: 6 })
    await filled(one, pool, 6)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        tryAcquire(fleet[index % 2]!, pool, { acquire_timeout_seconds: 0 }),
      ),
    )
    const leased = answers.filter(({ status }) => status === 200).map(({ body }) => body.session_id)
    assert.equal(leased.length, 6)
    assert.equal(new Set(leased).size, 6, 'none is leased twice')
    assert.equal(answers.filter(({ status }) => status === 204).length, 14)
    const { available_count, acquired_count } = await readPool(other, pool)
    assert.deepEqual([available_count, acquired_count], [0, 6])
    await remove(one, pool)
  })

  test('over many leases, no browser is leased twice at once, and the size is never exceeded', async () => {
    const pool = await createPool(one, { size: 3 })
    await filled(one, pool, 3)
    const held = new Set<string>()
    const work = async (at: TestServer, rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        const session = await acquire(at, pool)
        assert.ok(!held.has(session.session_id), 'leased twice')
        held.add(session.session_id)
        assert.ok(held.size <= 3)
        held.delete(session.session_id)
        await release(at, session, round % 4 === 3 ? { reuse: false } : {})
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, index) => work(fleet[index % 2]!, 6)))
    await filled(one, pool, 3)
    const live = (await pooledRows(one, pool)).filter((row) => row.end_reason === null)
    assert.equal(live.length, 3)
    assert.equal(await countWaiters(one), 0)
    await remove(one, pool)
  })

  test('clients get browsers in the order of their requests, on any server', async () => {
    const pool = await createPool(one, { size: 1 })
    let session = await acquire(one, pool)
    const order: number[] = []
    const waiting: Promise<void>[] = []
    for (let index = 0; index < 4; index++) {
      const at = fleet[index % 2]!
      waiting.push(
        (async () => {
          session = await acquire(at, pool)
          order.push(index)
        })(),
      )
      await eventually(`${index + 1} wait`, async () => (await countWaiters(one)) === index + 1)
    }
    for (const [index, turn] of waiting.entries()) {
      await release(fleet[(index + 1) % 2]!, session)
      await turn
    }
    assert.deepEqual(order, [0, 1, 2, 3])
    await remove(one, pool)
  })

  test('a client that disconnects while it waits leaves the queue and leases nothing', async () => {
    const pool = await createPool(one, { size: 1 })
    const session = await acquire(one, pool)
    const gone = new AbortController()
    const lost = one.fetch(`/browser_pools/${pool.id}/acquire`, { method: 'POST', signal: gone.signal })
    await eventually('it waits', async () => (await countWaiters(one)) === 1)
    gone.abort()
    await assert.rejects(lost)
    await eventually('its place is free', async () => (await countWaiters(one)) === 0)
    await release(one, session)
    await filled(one, pool, 1)
    await remove(one, pool)
  })

  test('clients that disconnect while they get a browser leave no lease behind', async () => {
    const pool = await createPool(one, { size: 4 })
    await filled(one, pool, 4)
    const inTheWay = new Client(url)
    await inTheWay.connect()
    await inTheWay.query('BEGIN')
    await inTheWay.query('SELECT 1 FROM browser_pools WHERE id = $1 FOR UPDATE', [pool.id])
    const gone = new AbortController()
    const lost = Array.from({ length: 4 }, (_, index) =>
      assert.rejects(
        fleet[index % 2]!.fetch(`/browser_pools/${pool.id}/acquire`, { method: 'POST', signal: gone.signal }),
      ),
    )
    await eventually('they wait for the lock', async () => {
      const waiting = await query(one, 'SELECT 1 FROM pg_locks WHERE NOT granted')
      return waiting.length >= 4
    })
    gone.abort()
    await Promise.all(lost)
    await inTheWay.query('COMMIT')
    await inTheWay.end()
    await eventually('they are done', async () => {
      const busy = `SELECT 1 FROM pg_stat_activity WHERE query ILIKE '%browser_pools%'
        AND state <> 'idle' AND pid <> pg_backend_pid()`
      return (await query(one, busy)).length === 0
    })
    await eventually('all wait again', async () => {
      const rows = await pooledRows(one, pool)
      return rows.length === 4 && rows.every((row) => row.leased_at === null && row.end_reason === null)
    })
    await remove(one, pool)
  })

  describe('a release that comes late', () => {
    for (const how of [{}, { reuse: false }, { reset: true }]) {
      test(`does not end the lease of the next holder, with ${JSON.stringify(how)}`, async () => {
        const { earlier, later, pool, first, second, isHeld } = await leasedTwice()
        // Old clients send no lease id. New clients send it, with the key of either holder or of the organisation.
        assert.equal((await give(earlier, first, how)).status, 204)
        for (const at of [earlier, later, one]) {
          assert.equal((await give(at, first, { lease_id: first.lease_id, ...how })).status, 204)
        }
        assert.ok(await isHeld())
        assert.equal((await readSession(later, second.session_id)).session_id, second.session_id)
        assert.equal((await give(later, second, how)).status, 204)
        assert.ok(!(await isHeld()))
        await remove(one, pool)
      })
    }

    test('with a key that never leased the browser needs the lease id after the browser was reused', async () => {
      const { later, pool, second, isHeld } = await leasedTwice()
      const refused = await give(one, second)
      assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
      for (const lease_id of [`${second.session_id}-999`, 'nonsense', second.session_id]) {
        assert.equal((await give(later, second, { lease_id })).status, 400, lease_id)
      }
      assert.ok(await isHeld())
      assert.equal((await give(one, second, { lease_id: second.lease_id })).status, 204)
      assert.ok(!(await isHeld()))
      // A release of the first lease cannot be late, so it needs no lease id.
      await flushed(pool)
      const fresh = await acquire(later, pool)
      assert.equal((await give(one, fresh)).status, 204)
      await remove(one, pool)
    })

    test('in the form of a DELETE of the session does not end a later lease', async () => {
      const { earlier, later, pool, first, second, isHeld } = await leasedTwice()
      const refused = await end(earlier, first)
      assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
      assert.equal((await end(earlier, first, `?lease_id=${first.lease_id}`)).status, 204)
      assert.equal((await end(later, second, '?lease_id=nonsense')).status, 400)
      assert.ok(await isHeld())
      assert.equal((await end(later, second)).status, 204)
      assert.ok(!(await isHeld()))
      await remove(one, pool)
    })

    test('at the same moment as the next acquire ends only its own lease', async () => {
      const { earlier, later, pool, second } = await leasedTwice()
      await release(later, second)
      for (let round = 0; round < 10; round++) {
        const held = await acquire(earlier, pool)
        // Two releases of one lease, with the next acquire between them.
        const [, , next] = await Promise.all([
          give(earlier, held, { lease_id: held.lease_id }),
          give(earlier, held, { lease_id: held.lease_id, reuse: round % 2 === 0 }),
          acquire(later, pool),
        ])
        const kept = await give(later, next, { lease_id: next.lease_id })
        assert.equal(kept.status, 204)
        assert.notEqual(next.lease_id, held.lease_id)
      }
      await remove(one, pool)
    })
  })

  test('a pool with reset_on_release gives no browser to a second lease, whatever the holder asks for', async () => {
    const pool = await createPool(one, { size: 1, reset_on_release: true })
    assert.equal(pool.browser_pool_config.reset_on_release, true)
    const seen = new Set<string>()
    for (const how of [{}, { reuse: true }, { reset: false }, { reuse: false }]) {
      const lease = await acquire(other, pool)
      assert.ok(!seen.has(lease.session_id), JSON.stringify(how))
      seen.add(lease.session_id)
      await release(one, lease, how)
      assert.equal((await readSession(one, lease.session_id)).end_reason, 'released')
    }
    const change = (body: object) => send<BrowserPool>(one, 'PATCH', `/browser_pools/${pool.id}`, body)
    // A change of something else keeps it.
    assert.equal((await change({ size: 1 })).body.browser_pool_config.reset_on_release, true)
    assert.equal(
      (await change({ reset_on_release: false })).body.browser_pool_config.reset_on_release,
      undefined,
    )
    const first = await acquire(other, pool)
    await release(one, first)
    assert.equal((await acquire(other, pool)).session_id, first.session_id)
    await remove(one, pool)
  })

  test('with an Idempotency-Key, a retry on any server gets the same lease', async () => {
    const pool = await createPool(one, { size: 2 })
    await filled(one, pool, 2)
    const key = { 'idempotency-key': 'lease-1' }
    const answers = await Promise.all(fleet.map((each) => tryAcquire(each, pool, {}, key)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    assert.equal(answers[0]!.body.session_id, answers[1]!.body.session_id)
    assert.equal((await readPool(one, pool)).acquired_count, 1)
    // Nothing was done, so nothing is stored: the next request with the key may lease.
    await acquire(one, pool)
    const empty = { 'idempotency-key': 'lease-2' }
    assert.equal((await tryAcquire(one, pool, { acquire_timeout_seconds: 0 }, empty)).status, 204)
    await release(one, answers[0]!.body)
    assert.equal((await tryAcquire(other, pool, { acquire_timeout_seconds: 0 }, empty)).status, 200)
    await remove(one, pool)
  })

  test('the end of a lease disconnects its clients and URLs on both servers, and the next lease has new URLs', async () => {
    const pool = await createPool(one, { size: 1 })
    const session = await acquire(one, pool)
    const clients = await Promise.all(fleet.map((each) => CdpClient.open(through(each, session.cdp_ws_url))))
    const closings = clients.map((client) => client.closed({ withinMs: 10_000 }))
    await release(other, session)
    const told = await Promise.all(closings)
    assert.deepEqual(told[0], { code: 4007, reason: 'session released' })
    for (const each of fleet) {
      await assert.rejects(CdpClient.open(through(each, session.cdp_ws_url)), isRefused, 'while it waits')
    }
    const next = await acquire(other, pool)
    assert.equal(next.session_id, session.session_id)
    for (const each of fleet) {
      await assert.rejects(
        CdpClient.open(through(each, session.cdp_ws_url)),
        isRefused,
        'while another holder leases it',
      )
      const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!
      const control = await each.fetch(`/browser/kernel/computer/get_mouse_position?jwt=${token}`, {
        method: 'POST',
        key: null,
      })
      assert.equal(control.status, 404, 'by base_url')
      const client = await CdpClient.open(through(each, next.cdp_ws_url))
      client.terminate()
    }
    await remove(one, pool)
  })

  test('a waiting browser is not shown, not found and not controlled', async () => {
    const pool = await createPool(one, { size: 1 })
    await filled(one, pool, 1)
    const [row] = await pooledRows(one, pool)
    const id = row!.id
    for (const each of fleet) {
      for (const [method, path] of [
        ['GET', `/browsers/${id}`],
        ['GET', `/browsers/${id}?include_deleted=true`],
        ['PATCH', `/browsers/${id}`],
        ['DELETE', `/browsers/${id}`],
        ['POST', `/browsers/${id}/computer/get_mouse_position`],
        ['GET', `/browsers/${id}/replays`],
        ['POST', `/browsers/${id}/live_view_links`],
        ['GET', `/browsers/${id}/pages`],
        ['POST', `/browsers/${id}/devtools_links`],
      ] as const) {
        const answer = await send(each, method, path, method === 'PATCH' ? {} : undefined)
        assert.equal(answer.status, 404, `${method} ${path}`)
      }
      const released = await send(each, 'POST', `/browser_pools/${pool.id}/release`, { session_id: id })
      assert.equal(released.status, 404, 'it was never leased')
    }
    await remove(one, pool)
  })

  test('the timeout of the pool runs only during a lease', async () => {
    const pool = await createPool(one, { size: 2, timeout_seconds: 10 })
    await filled(one, pool, 2)
    const ids = (await pooledRows(one, pool)).map(({ id }) => id)
    const leasedAt = performance.now()
    const session = await acquire(other, pool)
    await endsAs(one, session, { reason: 'timed_out', withinMs: 20_000 })
    assert.ok(performance.now() - leasedAt > 9_500)
    // The other one has waited longer than that.
    const waiting = (await pooledRows(one, pool)).find(
      ({ id }) => ids.includes(id) && id !== session.session_id,
    )
    assert.equal(waiting!.end_reason, null)
    await filled(one, pool, 2)
    await remove(one, pool)
  })

  test('deleting with force ends leases, sends waiting clients away, and tells connected clients', async () => {
    const pool = await createPool(one, { size: 2 })
    await filled(one, pool, 2)
    const [first, second] = [await acquire(one, pool), await acquire(other, pool)]
    const refused = await send(other, 'DELETE', `/browser_pools/${pool.id}`, {})
    assert.deepEqual([refused.status, refused.body.code], [400, 'pool_in_use'])
    const client = await CdpClient.open(first.cdp_ws_url)
    const closing = client.closed({ withinMs: 10_000 })
    const waiting = tryAcquire(other, pool, { acquire_timeout_seconds: 30 })
    await eventually('it waits', async () => (await countWaiters(one)) === 1)
    assert.equal((await send(other, 'DELETE', `/browser_pools/${pool.id}`, { force: true })).status, 204)
    assert.deepEqual(await closing, { code: 4000, reason: 'session deleted' })
    assert.equal((await waiting).status, 404)
    for (const session of [first, second]) {
      assert.equal((await readSession(one, session.session_id)).end_reason, 'deleted')
    }
    const live = (await pooledRows(one, pool)).filter((row) => row.end_reason === null)
    assert.deepEqual(live, [])
  })
})

describe('one server', () => {
  test('max_pooled_sessions is exact, also under parallel requests', async () => {
    const project = (await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'Capped' })).body
    await send(server, 'PATCH', `/org/projects/${project.id}/limits`, { max_pooled_sessions: 5 })
    const make = (size: number) =>
      send<BrowserPool>(
        server,
        'POST',
        '/browser_pools',
        { size, headless: true, fill_rate_per_minute: 0 },
        inProject(project.id),
      )
    const answers = await Promise.all(Array.from({ length: 12 }, () => make(2)))
    const made = answers.filter(({ status }) => status === 201)
    assert.equal(made.length, 2)
    for (const { status, body } of answers) if (status !== 201) assert.equal(body.code, 'too_many_sessions')
    const [first, second] = made.map(({ body }) => body)
    const resize = (pool: BrowserPool, size: number) =>
      send(server, 'PATCH', `/browser_pools/${pool.id}`, { size }).then(({ status }) => status)
    assert.equal(await resize(first!, 3), 200)
    assert.equal(await resize(second!, 3), 429)
    assert.equal((await make(1)).status, 429)
    assert.equal(await resize(first!, 2), 200)
    // A lower cap removes nothing, but lets nothing grow.
    await send(server, 'PATCH', `/org/projects/${project.id}/limits`, { max_pooled_sessions: 3 })
    assert.equal(await resize(first!, 2), 200)
    assert.equal(await resize(first!, 3), 429)
    assert.equal(await resize(first!, 1), 200)
    const refused = await send(server, 'DELETE', `/org/projects/${project.id}`)
    assert.deepEqual([refused.status, refused.body.code], [409, 'project_not_empty'])
    for (const pool of [first!, second!]) await remove(server, pool)
    assert.equal((await send(server, 'DELETE', `/org/projects/${project.id}`)).status, 204)
  })

  test('a pool reserves places for its whole size, also under the caps of all sessions', async () => {
    assert.equal((await send(server, 'POST', '/browser_pools', { size: 11, headless: true })).status, 429)
    const pool = await createPool(server, { size: 10, fill_rate_per_minute: 0 })
    const sessions = await Promise.all(
      Array.from({ length: 6 }, () => send(server, 'POST', '/browsers', { headless: true })),
    )
    const made = sessions.filter(({ status }) => status === 200)
    assert.equal(made.length, 2)
    // Existing browsers do not count twice.
    await send(server, 'PATCH', `/browser_pools/${pool.id}`, { fill_rate_per_minute: 10_000 })
    await filled(server, pool, 10)
    await send(server, 'DELETE', `/browsers/${made[0]!.body.session_id}`)
    assert.equal((await send(server, 'POST', '/browsers', { headless: true })).status, 200)
    assert.equal((await send(server, 'POST', '/browsers', { headless: true })).status, 429)
    // Leased browsers beyond a smaller size keep their places.
    const leased = await Promise.all(Array.from({ length: 4 }, () => acquire(server, pool)))
    await send(server, 'PATCH', `/browser_pools/${pool.id}`, { size: 1 })
    await filled(server, pool, 0)
    assert.equal((await readPool(server, pool)).acquired_count, 4)
    const free = await Promise.all(
      Array.from({ length: 8 }, () => send(server, 'POST', '/browsers', { headless: true })),
    )
    assert.equal(free.filter(({ status }) => status === 200).length, 6)
    for (const session of leased) await release(server, session)
    await filled(server, pool, 1)
    const live = (await pooledRows(server, pool)).filter((row) => row.end_reason === null)
    assert.equal(live.length, 1, 'a browser beyond the size ends when it is released')
    for (const { status, body } of [...sessions, ...free]) {
      if (status === 200) await send(server, 'DELETE', `/browsers/${body.session_id}`)
    }
    await send(server, 'DELETE', '/browsers?persistent_id=x')
    for (const { session_id } of (await send<LeasedSession[]>(server, 'GET', '/browsers')).body) {
      await send(server, 'DELETE', `/browsers/${session_id}`)
    }
    await remove(server, pool)
  })

  test('a pool is filled at its rate, and a used browser is replaced at once', async () => {
    const pool = await createPool(server, { size: 4, fill_rate_per_minute: 50 })
    await filled(server, pool, 2)
    const first = await acquire(server, pool)
    const second = await acquire(server, pool)
    assert.equal((await tryAcquire(server, pool, { acquire_timeout_seconds: 2 })).status, 204, 'not yet')
    await release(server, first, { reuse: false })
    const third = await acquire(server, pool, { acquire_timeout_seconds: 10 })
    await release(server, second, { reset: true })
    assert.equal(
      (await readPool(server, pool)).available_count,
      1,
      'the replacement is ready when the release is answered',
    )
    // As if a minute had passed.
    await query(server, `UPDATE browsers SET created_at = created_at - interval '61 s' WHERE pool_id = $1`, [
      pool.id,
    ])
    await filled(server, pool, 3)
    const none = await createPool(server, { size: 1, fill_rate_per_minute: 0 })
    assert.equal((await tryAcquire(server, none, { acquire_timeout_seconds: 1 })).status, 204)
    assert.deepEqual(await pooledRows(server, none), [])
    await release(server, third)
    await Promise.all([pool, none].map((each) => remove(server, each)))
  })

  test('a change applies to later browsers, and to waiting ones if they are discarded', async () => {
    const pool = await createPool(server, { size: 2, name: 'before' })
    await filled(server, pool, 2)
    const kept = await acquire(server, pool)
    const viewport = { width: 800, height: 600 }
    await send(server, 'PATCH', `/browser_pools/${pool.id}`, { viewport, timeout_seconds: 77, name: 'after' })
    const old = await acquire(server, pool)
    assert.deepEqual(viewportOf(old), { width: 1920, height: 1080 })
    assert.deepEqual([old.timeout_seconds, old.pool.name], [77, 'after'])
    const renamed = (await readSession(server, kept.session_id)) as LeasedSession
    assert.equal(renamed.pool.name, 'after')
    await release(server, old)
    await send(server, 'PATCH', `/browser_pools/${pool.id}`, { discard_all_idle: true })
    const fresh = await acquire(server, pool)
    assert.notEqual(fresh.session_id, old.session_id)
    assert.deepEqual(viewportOf(fresh), viewport)
    assert.equal((await readSession(server, kept.session_id)).deleted_at, undefined)
    await remove(server, pool)
  })

  test('a browser can only be released to its own pool, by its own project', async () => {
    const projects = await Promise.all(
      ['Mine', 'Theirs'].map(async (name) => {
        const { id } = (await send<{ id: string }>(server, 'POST', '/org/projects', { name })).body
        const key = await send<{ key: string }>(server, 'POST', '/org/api_keys', { name, project_id: id })
        return { id, key: key.body.key }
      }),
    )
    const [mine, theirs] = projects as [(typeof projects)[0], (typeof projects)[0]]
    const as = (key: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      return server.fetch(path, { method: 'POST', key, headers, body: JSON.stringify(body) })
    }
    const config = { size: 1, name: 'same', headless: true, fill_rate_per_minute: 10_000 }
    for (const { key } of projects) assert.equal((await as(key, '/browser_pools', config)).status, 201)
    const lease = async (key: string) =>
      (await (
        await as(key, '/browser_pools/same/acquire', { acquire_timeout_seconds: 30 })
      ).json()) as LeasedSession
    const [ours, foreign] = [await lease(mine.key), await lease(theirs.key)]
    assert.notEqual(ours.session_id, foreign.session_id)
    for (const body of [
      { session_id: foreign.session_id },
      { session_id: foreign.session_id, reuse: false },
    ]) {
      assert.equal((await as(mine.key, '/browser_pools/same/release', body)).status, 404)
    }
    const crossed = `/browser_pools/${foreign.pool.id}`
    assert.equal((await as(mine.key, `${crossed}/release`, { session_id: foreign.session_id })).status, 404)
    assert.equal((await as(mine.key, `${crossed}/acquire`, { acquire_timeout_seconds: 0 })).status, 404)
    assert.equal((await as(mine.key, `${crossed}/flush`, {})).status, 404)
    assert.equal((await readSession(server, foreign.session_id)).deleted_at, undefined)
    // With a key of the organisation, but to another pool.
    const wrong = await send(server, 'POST', `/browser_pools/${ours.pool.id}/release`, {
      session_id: foreign.session_id,
    })
    assert.equal(wrong.status, 404)
    assert.equal(
      (await as(mine.key, '/browser_pools/same/release', { session_id: ours.session_id })).status,
      204,
    )
    assert.equal((await lease(mine.key)).session_id, ours.session_id)
    for (const { pool } of [ours, foreign]) await remove(server, pool)
  })

  test('the next lease has the proxy and size of the pool again, and a proxy in use cannot be deleted', async () => {
    const newProxy = async (port: number) => {
      const body = { type: 'custom', config: { host: 'proxy.invalid', port } }
      return (await send<{ id: string }>(server, 'POST', '/proxies', body)).body.id
    }
    const [own, another] = [await newProxy(8080), await newProxy(8081)]
    const pool = await createPool(server, { proxy_id: own, viewport: { width: 1280, height: 720 } })
    const asked = { proxy_id: own, width: 1280, height: 720 }
    const leased = await acquire(server, pool)
    assert.deepEqual(wayAndSizeOf(leased), asked)
    const changed = await send(server, 'PATCH', `/browsers/${leased.session_id}`, {
      proxy_id: another,
      viewport: { width: 1024, height: 768 },
    })
    assert.deepEqual(wayAndSizeOf(changed.body), { proxy_id: another, width: 1024, height: 768 })
    await release(server, leased)
    const again = await acquire(server, pool)
    assert.equal(again.session_id, leased.session_id)
    assert.deepEqual(wayAndSizeOf(again), asked)

    await send(server, 'DELETE', `/browsers/${again.session_id}`)
    assert.equal((await send(server, 'DELETE', `/proxies/${another}`)).status, 204)
    const refused = await send(server, 'DELETE', `/proxies/${own}`)
    assert.deepEqual([refused.status, refused.body.code], [400, 'resource_in_use'])
    const absent = await send(server, 'POST', '/browser_pools', { size: 1, proxy_id: another })
    assert.match(absent.body.message!, /proxy_id/)
    await remove(server, pool)
    assert.equal((await send(server, 'DELETE', `/proxies/${own}`)).status, 204)
  })

  test('unsupported or contradictory options are refused by name', async () => {
    const bodies: [object, RegExp][] = [
      [{ size: 1, refresh_on_profile_update: true }, /refresh_on_profile_update: needs a profile/],
      [{ size: 1, profile: {} }, /profile: needs either/],
      [{ size: 1, profile: { id: 'a', name: 'b' } }, /profile: needs either/],
      [{ size: 1, extensions: [{}] }, /extensions\[0\]: needs either/],
      [{ size: 1, start_url: 'x'.repeat(2049) }, /start_url/],
      [{ size: 0 }, /size/],
    ]
    for (const [body, pattern] of bodies) {
      const answer = await send(server, 'POST', '/browser_pools', body)
      assert.equal(answer.status, 400, JSON.stringify(body))
      assert.match(answer.body.message!, pattern)
    }
  })

  test('a server that stops tells waiting clients to retry', async (t) => {
    const stopping = await startServer(t)
    const pool = await createPool(stopping, { size: 1, fill_rate_per_minute: 0 })
    const waiting = tryAcquire(stopping, pool, { acquire_timeout_seconds: 100 })
    await eventually('it waits', async () => (await countWaiters(stopping)) === 1)
    const [answer] = await Promise.all([waiting, stopping.stop('SIGTERM')])
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'])
  })
})

function wayAndSizeOf(session: object): object {
  return { proxy_id: (session as { proxy_id?: string }).proxy_id, ...viewportOf(session) }
}

function viewportOf(session: object): object {
  const { width, height } = (session as { viewport: { width: number; height: number } }).viewport
  return { width, height }
}

test('saving a profile replaces the waiting browsers of its pools, if they ask for it', async (t) => {
  const { db } = await startDatabase(t)
  const [mine, theirs] = [await insertProject(db, 'Mine'), await insertProject(db, 'Theirs')]
  await db.insertInto('servers').values({ id: 's', address: null }).execute()
  const newPool = async (projectId: string, refreshes: boolean, profileId: string) => {
    const id = newId()
    await insertPool(
      db,
      { id, projectId, region: 'us-east' },
      {
        name: null,
        size: 2,
        fillRatePerMinute: 25,
        timeoutSeconds: 600,
        refreshOnProfileUpdate: refreshes,
        resetOnRelease: false,
        browser: { headless: true, profile: { id: profileId } },
        sealedPolicy: null,
        telemetry: null,
        profileId,
        extensionIds: [],
      },
    )
    for (const isLeased of [true, false]) {
      await db
        .insertInto('browsers')
        .values({
          id: `${id}-${isLeased ? 'leased' : 'idle'}`,
          project_id: projectId,
          tags: '{}',
          headless: true,
          stealth: false,
          has_chrome_policy: false,
          gpu: false,
          kiosk_mode: false,
          timeout_seconds: 600,
          viewport_width: 1,
          viewport_height: 1,
          viewport_refresh_rate: 1,
          server_id: 's',
          pool_id: id,
          ...(isLeased && { leased_at: new Date() }),
        })
        .execute()
    }
    return id
  }
  const refreshed = await newPool(mine.id, true, 'saved')
  await newPool(mine.id, false, 'saved')
  await newPool(mine.id, true, 'another')
  await newPool(theirs.id, true, 'saved')
  await refreshPoolsOf(db, mine.id, 'saved')
  const ended = await db.selectFrom('browsers').select('id').where('deleted_at', 'is not', null).execute()
  assert.deepEqual(ended, [{ id: `${refreshed}-idle` }])
})

test('pools with a profile that is being saved wait for it without blocking other pools', async () => {
  const profile = (await send<{ id: string }>(one, 'POST', '/profiles', { name: 'being-saved' })).body
  const session = await createSession(one, { profile: { id: profile.id, save_changes: true } })
  await query(one, "UPDATE browsers SET profile_save = 'saving' WHERE id = $1", [session.session_id])
  const made = Array.from({ length: 12 }, () =>
    send<BrowserPool>(one, 'POST', '/browser_pools', {
      size: 1,
      headless: true,
      profile: { id: profile.id },
    }),
  )
  const others = Array.from({ length: 12 }, () => send(one, 'GET', '/projects'))
  for (const { status, body } of await Promise.all(others)) assert.equal(status, 200, body.message)
  for (const { status, body } of await Promise.all(made)) {
    assert.equal(status, 201, JSON.stringify(body))
    await remove(one, body)
  }
  await query(one, 'UPDATE browsers SET profile_save = NULL WHERE id = $1', [session.session_id])
  await send(one, 'DELETE', `/browsers/${session.session_id}`)
})

/** The same server, for the holder of another key. */
async function withKey(at: TestServer): Promise<TestServer> {
  const made = await send<{ key: string }>(at, 'POST', '/org/api_keys', { name: 'holder' })
  assert.equal(made.status, 201)
  return { ...at, fetch: (path, options) => at.fetch(path, { ...options, key: made.body.key }) }
}

function give(at: TestServer, { pool, session_id }: LeasedSession, body: object = {}) {
  return send<{ code?: string }>(at, 'POST', `/browser_pools/${pool.id}/release`, { session_id, ...body })
}

function end(at: TestServer, { session_id }: LeasedSession, parameters = '') {
  return send<{ code?: string }>(at, 'DELETE', `/browsers/${session_id}${parameters}`)
}

/** One browser that two holders lease one after the other. */
async function leasedTwice() {
  const [earlier, later] = [await withKey(one), await withKey(other)]
  const pool = await createPool(one, { size: 1 })
  const first = await acquire(earlier, pool)
  await release(earlier, first)
  const second = await acquire(later, pool)
  assert.equal(second.session_id, first.session_id)
  assert.notEqual(second.lease_id, first.lease_id)
  const isHeld = async () => {
    const [row] = await pooledRows(one, pool)
    return row!.leased_at !== null && row!.end_reason === null
  }
  return { earlier, later, pool, first, second, isHeld }
}
