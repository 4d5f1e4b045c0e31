// A session is handed over to a person: the call that waits, the page that asks, and who may answer. Instances are fake.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ServerDatabase } from '../conformance/server-database.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'
import { holds } from '../hostile/secret-search.ts'

const owner = { after }
const server = await startServer(owner)
const database = await ServerDatabase.open(owner, server)

const answer = (url: string, handover: string, body: object = { outcome: 'done' }) => {
  const page = new URL(url)
  page.pathname = '/browser/live/handover'
  page.searchParams.set('handover', handover)
  return fetch(page, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

describe('a handover', () => {
  test('is waited for, and ends with what was said first', async () => {
    const { session_id: id } = await createSession(server)
    const made = await send<Record<string, string>>(server, 'POST', `/browsers/${id}/handovers`, {
      message: 'Log in\nthen click Done',
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.match(made.body['url']!, /\/browser\/live\?jwt=.*&handover=/)
    const path = `/browsers/${id}/handovers/${made.body['id']}`
    const waiting = send<Record<string, string>>(server, 'GET', `${path}?wait_seconds=30`)
    const page = new URL(made.body['url']!)
    page.pathname = '/browser/live/handover'
    const shown = (await (await fetch(page)).json()) as { message: string; state: string }
    assert.deepEqual([shown.message, shown.state], ['Log in\nthen click Done', 'waiting'])
    const answered = await fetch(page, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ outcome: 'done', note: 'The code was 17' }),
    })
    assert.equal(answered.status, 200)
    const over = await waiting
    assert.deepEqual([over.body['state'], over.body['note']], ['done', 'The code was 17'])
    const late = await send<Record<string, string>>(server, 'POST', `${path}/finish`, {
      outcome: 'cancelled',
    })
    assert.equal(late.body['state'], 'done')
    const rows = (await database.dump())['handovers']!.join('\n')
    for (const words of ['then click Done', 'The code was 17'])
      assert.ok(!holds(rows, words), 'sealed at rest')
    assert.ok(!server.output().includes('The code was 17'))
  })

  test('words that a version before has stored are still read', async () => {
    const { session_id: id } = await createSession(server)
    const made = await send<{ id: string }>(server, 'POST', `/browsers/${id}/handovers`, { message: 'x' })
    await query(
      server,
      `UPDATE handovers SET message = 'Log in', sealed_message = NULL, note = 'I did', state = 'done',
        finished_at = now() WHERE id = $1`,
      [made.body.id],
    )
    const path = `/browsers/${id}/handovers/${made.body.id}`
    const { body } = await send<Record<string, string>>(server, 'GET', path)
    assert.deepEqual([body['message'], body['note']], ['Log in', 'I did'])
  })

  test('nobody answers with a link to watch, a foreign handover or nonsense', async () => {
    const [one, other] = [await createSession(server), await createSession(server)]
    const made = async (id: string) =>
      (await send<{ id: string; url: string }>(server, 'POST', `/browsers/${id}/handovers`, { message: 'x' }))
        .body
    const [mine, theirs] = [await made(one.session_id), await made(other.session_id)]
    assert.equal((await answer(mine.url, theirs.id)).status, 404)
    assert.equal((await answer(mine.url, mine.id, { outcome: 'cancelled' })).status, 400)
    assert.equal((await answer(mine.url, mine.id, { outcome: 'done', note: 7 })).status, 400)
    const link = await send<{ url: string }>(
      server,
      'POST',
      `/browsers/${one.session_id}/live_view_links`,
      {},
    )
    assert.equal((await answer(link.body.url, mine.id)).status, 401)
    await send(server, 'DELETE', `/browsers/${one.session_id}`)
    const path = `/browsers/${one.session_id}/handovers/${mine.id}`
    assert.equal((await send<{ state: string }>(server, 'GET', path)).body.state, 'session_ended')
  })

  test('it expires, and a session does not time out while somebody waits for its person', async () => {
    const { session_id: id } = await createSession(server, { timeout_seconds: 10 })
    const made = await send<{ id: string }>(server, 'POST', `/browsers/${id}/handovers`, {
      message: 'x',
      expires_in_seconds: 14,
    })
    const path = `/browsers/${id}/handovers/${made.body.id}`
    const over = await send<{ state: string }>(server, 'GET', `${path}?wait_seconds=30`)
    assert.equal(over.body.state, 'expired')
    const session = await send<{ deleted_at?: string }>(server, 'GET', `/browsers/${id}?include_deleted=true`)
    assert.equal(session.body.deleted_at, undefined)
  })

  test('another server learns the answer, and a server that is killed loses nothing', async (t) => {
    const { url } = await newDatabase(t)
    const env = {
      DATABASE_URL: url,
      BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      BERTH_API_KEY: server.key,
    }
    const shared = await startServer(t, { env })
    const other = await startServer(t, { env })
    const { session_id: id } = await createSession(shared)
    const made = await send<{ id: string }>(shared, 'POST', `/browsers/${id}/handovers`, { message: 'x' })
    const path = `/browsers/${id}/handovers/${made.body.id}`
    const began = performance.now()
    const waiting = send<{ state: string }>(shared, 'GET', `${path}?wait_seconds=40`)
    assert.equal((await send(other, 'POST', `${path}/finish`, { outcome: 'declined' })).status, 200)
    assert.equal((await waiting).body.state, 'declined')
    assert.ok(performance.now() - began < 20_000)
    await shared.stop('SIGKILL')
    assert.equal((await send<{ state: string }>(other, 'GET', path)).body.state, 'declined')
  })

  test('a session has at most twenty that wait', async () => {
    const { session_id: id } = await createSession(server)
    const hand = () => send(server, 'POST', `/browsers/${id}/handovers`, { message: 'x' })
    for (let count = 0; count < 20; count++) assert.equal((await hand()).status, 201)
    assert.equal((await hand()).status, 429)
  })
})
