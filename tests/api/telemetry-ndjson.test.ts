// All events of a session at once.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSession, send } from '../fixtures/sessions.ts'
import { startServer } from '../fixtures/server.ts'
import { manyEvents, storeEvents } from '../fixtures/stored-events.ts'

interface Seen {
  readonly seq: number
  readonly event: { readonly type: string; readonly data?: Readonly<Record<string, unknown>> }
}

const server = await startServer({ after })
const { session_id: id } = await createSession(server)
await send(server, 'DELETE', `/browsers/${id}`)
const events = manyEvents(2_100)
events[0]!.data!['url'] = 'x'.repeat(5_000)
await storeEvents(server, { sessionId: id, events })

async function read(query: string): Promise<Seen[]> {
  const answer = await server.fetch(`/browsers/${id}/telemetry/ndjson?${query}`)
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type')!, /^application\/x-ndjson/)
  const text = await answer.text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Seen)
}

test('every stored event comes once, in order, as the pages have it', async () => {
  const seen = await read('')
  assert.deepEqual(
    seen.map(({ seq }) => seq),
    Array.from({ length: 2_100 }, (_, index) => index + 1),
  )
  const page = await send<Seen[]>(server, 'GET', `/browsers/${id}/telemetry/events?limit=100&offset=1001`)
  assert.deepEqual(seen.slice(1_000, 1_100), page.body)
})

test('a limit keeps the newest events, and `after` leaves out what a reader has', async () => {
  assert.deepEqual(
    (await read('limit=2')).map(({ seq }) => seq),
    [2_099, 2_100],
  )
  assert.deepEqual(
    (await read('after=2098')).map(({ seq }) => seq),
    [2_099, 2_100],
  )
  assert.deepEqual(await read('after=2100'), [])
  const refused = await send(server, 'GET', `/browsers/${id}/telemetry/ndjson?limit=100001`)
  assert.equal(refused.status, 400)
})

test('brief events have no large parts', async () => {
  const [request, answer, line] = await read('brief=true&limit=2100')
  assert.deepEqual(Object.keys(request!.event.data!).toSorted(), [
    'method',
    'request_id',
    'resource_type',
    'session_id',
    'url',
  ])
  assert.equal(String(request!.event.data!['url']).length, 301)
  assert.equal(answer!.event.data!['body'], undefined)
  assert.equal(answer!.event.data!['status'], 404)
  assert.equal(line!.event.data!['text'], 'line 2 <b>is text</b>')
})

test('a session without events has none, and an unknown one is not found', async () => {
  const { session_id: silent } = await createSession(server)
  const answer = await server.fetch(`/browsers/${silent}/telemetry/ndjson`)
  assert.equal(await answer.text(), '')
  assert.equal((await server.fetch('/browsers/nobody/telemetry/ndjson')).status, 404)
})
