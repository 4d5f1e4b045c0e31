// The server is killed at a random moment while sessions are created, used and deleted, and started again: every
// acknowledged session exists, unchanged.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { agrees } from '../fixtures/agreement.ts'
import { withCdp } from '../fixtures/cdp.ts'
import type { Owner } from '../fixtures/cleanup.ts'
import { seededRandom } from '../fixtures/random.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { query, readSession, send } from '../fixtures/sessions.ts'

const WORKERS = 2
/** Sessions that one worker keeps at once. */
const KEPT = 4

interface Known {
  /** Sessions whose page was written to, and the text. */
  readonly live: Map<string, { url: string; value: number }>
  readonly deleted: Set<string>
  /** Creates that were sent and not answered. */
  readonly unanswered: Set<string>
  /** From here on, errors of the server are expected. */
  isKilled: boolean
}

let values = 0

function create(server: TestServer, key: string) {
  const body = { headless: true, timeout_seconds: 3600 }
  return send(server, 'POST', '/browsers', body, { 'idempotency-key': key })
}

const read = (url: string) => withCdp(url, (cdp) => cdp.evaluate<number>('globalThis.kept'))

async function workUntilKilled(server: TestServer, known: Known, onDone: () => void): Promise<void> {
  const mine: string[] = []
  try {
    for (;;) {
      const value = values++
      const key = `key-${value}`
      known.unanswered.add(key)
      const { status, body } = await create(server, key)
      known.unanswered.delete(key)
      assert.equal(status, 200, body.message)
      const { session_id, cdp_ws_url: url } = body
      await withCdp(url, (cdp) => cdp.evaluate(`globalThis.kept = ${value}`))
      known.live.set(session_id, { url, value })
      mine.push(session_id)
      onDone()
      if (mine.length < KEPT) continue
      const oldest = mine.shift()!
      const { url: used, value: written } = known.live.get(oldest)!
      assert.equal(await read(used), written)
      known.live.delete(oldest)
      assert.equal((await send(server, 'DELETE', `/browsers/${oldest}`)).status, 204)
      known.deleted.add(oldest)
      onDone()
    }
  } catch (error) {
    if (!known.isKilled) throw error
  }
}

async function verify(server: TestServer, known: Known): Promise<void> {
  await agrees(server)
  for (const { url, value } of known.live.values()) assert.equal(await read(url), value)
  for (const id of known.deleted) assert.equal((await readSession(server, id)).end_reason, 'deleted')
  for (const key of known.unanswered) {
    const { status, body } = await create(server, key)
    assert.equal(status, 200, body.message)
    assert.equal((await create(server, key)).body.session_id, body.session_id, 'one effect')
    await send(server, 'DELETE', `/browsers/${body.session_id}`)
  }
  const [{ twice }] = (await query<{ twice: number }>(
    server,
    'SELECT count(*)::int - count(DISTINCT instance_id)::int AS twice FROM browsers',
  )) as [{ twice: number }]
  assert.equal(twice, 0, 'no instance had two sessions')
}

export async function sessionKillRounds(owner: Owner, rounds: number): Promise<{ survived: number }> {
  const dataDir = tempDir(owner)
  const random = seededRandom('kills of sessions')
  const settings = {
    hasRealInstances: true,
    hasOwnPostgres: true,
    dataDir,
    env: { BERTH_WARM_HEADLESS: '1' },
  }
  let server = await startServer(owner, settings)
  const { port } = new URL(server.url)
  const known: Known = { live: new Map(), deleted: new Set(), unanswered: new Set(), isKilled: false }
  let survived = 0
  for (let round = 0; round < rounds; round++) {
    let left = random.integer(1, 8)
    const enough = Promise.withResolvers<void>()
    const onDone = () => {
      if (--left === 0) enough.resolve()
    }
    const workers = Array.from({ length: WORKERS }, () => workUntilKilled(server, known, onDone))
    await Promise.race([enough.promise, Promise.all(workers)])
    // At a random point of a create, most of which is the start of a browser.
    await delay(random.next() * 1_000)
    known.isKilled = true
    await server.stop('SIGKILL')
    await Promise.all(workers)
    known.isKilled = false
    server = await startServer(owner, { ...settings, env: { ...settings.env, BERTH_PORT: port } })
    await verify(server, known)
    survived += known.live.size
    for (const id of known.live.keys()) await send(server, 'DELETE', `/browsers/${id}`)
    known.live.clear()
    known.deleted.clear()
    known.unanswered.clear()
  }
  await agrees(server)
  return { survived }
}
