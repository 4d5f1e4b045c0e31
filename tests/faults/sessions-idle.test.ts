// A session ends when its timeout has passed without activity: not earlier, and at most two seconds later.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { agrees } from '../fixtures/agreement.ts'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { createSession, listSessions, query, send, type Session } from '../fixtures/sessions.ts'

const MAX_LATE_MS = 2_000

/** The last activity was between these two times, seen from outside. */
interface Activity {
  readonly begun: number
  readonly over: number
}

async function during<T>(work: () => Promise<T>): Promise<Activity & { result: T }> {
  const begun = Date.now()
  const result = await work()
  return { begun, over: Date.now(), result }
}

/** How late the latest session ended; fails if one was early or too late. */
async function endsInTime(server: TestServer, activities: ReadonlyMap<string, Activity>): Promise<number> {
  const rows = await query<{ id: string; timeout_seconds: number; deleted_at: Date; end_reason: string }>(
    server,
    'SELECT id, timeout_seconds, deleted_at, end_reason FROM browsers WHERE deleted_at IS NOT NULL',
  )
  assert.equal(rows.length, activities.size)
  let latest = -Infinity
  for (const { id, timeout_seconds, deleted_at, end_reason } of rows) {
    assert.equal(end_reason, 'timed_out')
    const { begun, over } = activities.get(id)!
    const timeoutMs = timeout_seconds * 1000
    const earliest = deleted_at.getTime() - begun - timeoutMs
    const late = deleted_at.getTime() - over - timeoutMs
    assert.ok(earliest >= 0 && late <= MAX_LATE_MS, `ended ${late} to ${earliest} ms after its timeout`)
    latest = Math.max(latest, late)
  }
  return latest
}

const allEnded = (server: TestServer, left = 0) =>
  eventually('all have ended', async () => (await listSessions(server)).length === left)

describe('the timeout', { concurrency: true }, () => {
  test('is exact for each of a hundred sessions, and activity restarts it', async (t) => {
    // The kind of instance does not matter here.
    const server = await startServer(t)
    const activities = new Map<string, Activity>()
    const create = async (timeout_seconds: number): Promise<Session> => {
      const { result, ...activity } = await during(() => createSession(server, { timeout_seconds }))
      activities.set(result.session_id, activity)
      return result
    }
    const sessions = await Promise.all(Array.from({ length: 100 }, (_, index) => create(10 + (index % 3))))
    await delay(4_000)
    const viewport = { width: 800, height: 600 }
    for (const { session_id } of sessions.slice(0, 10)) {
      const { result, ...activity } = await during(() =>
        send(server, 'PATCH', `/browsers/${session_id}`, { viewport }),
      )
      assert.equal(result.status, 200)
      activities.set(session_id, activity)
    }
    await allEnded(server)
    t.diagnostic(`the last ended ${await endsInTime(server, activities)} ms after its timeout`)
  })

  test('of a real session runs while no client is connected, frozen or not', async (t) => {
    const server = await startServer(t, { hasRealInstances: true })
    const activities = new Map<string, Activity>()
    const create = async (): Promise<Session> => {
      const { result, ...activity } = await during(() => createSession(server, { timeout_seconds: 10 }))
      activities.set(result.session_id, activity)
      return result
    }
    const [, visited, held] = await Promise.all([create(), create(), create()])
    activities.delete(held.session_id)
    const client = await CdpClient.open(held.cdp_ws_url)
    // Long enough for standby, from which the visit wakes it.
    await delay(6_000)
    activities.set(
      visited.session_id,
      await during(() => withCdp(visited.cdp_ws_url, (cdp) => cdp.evaluate('1'))),
    )
    await allEnded(server, 1)
    t.diagnostic(`the last ended ${await endsInTime(server, activities)} ms after its timeout`)
    assert.equal(await client.evaluate('6 * 7'), 42, 'a client holds its session')
    client.terminate()
    await agrees(server)
  })
})
