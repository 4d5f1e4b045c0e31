// Exported telemetry arrives complete, whatever is killed or away: compared event by event with what Berth stores.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { OtlpDestination } from '@berth/contracts/telemetry-destinations'
import { withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { asSeen, mayReachCollectors, OtlpCollector } from '../fixtures/otlp-collector.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { createSession, query, send, type Answer } from '../fixtures/sessions.ts'
import { dataOf, EventReader, type SeenEvent } from '../fixtures/telemetry.ts'

const on = { enabled: true }

async function newDestination(server: TestServer, { url }: OtlpCollector): Promise<string> {
  const body = { name: `to ${url}`, endpoint: url }
  const answer = await send<OtlpDestination>(server, 'POST', '/telemetry/destinations', body)
  assert.equal(answer.status, 201, answer.body.message)
  return answer.body.id
}

const exporting = (id: string, browser: object = {}) => ({
  telemetry: { enabled: true, browser, export: { otlp: { destination: { id } } } },
})

const act = async (server: TestServer, id: string, count: number) => {
  for (let done = 0; done < count; done++) {
    await send(server, 'GET', `/browsers/${id}/fs/file_info?path=/`)
  }
}

async function eventsOf(server: TestServer, id: string): Promise<SeenEvent[]> {
  const events: SeenEvent[] = []
  let next = 'since=1h'
  for (;;) {
    const path = `/browsers/${id}/telemetry/events?limit=100&${next}`
    const answer: Answer<SeenEvent[]> = await send<SeenEvent[]>(server, 'GET', path)
    events.push(...answer.body)
    if (answer.headers.get('x-has-more') !== 'true') return events
    next = `offset=${answer.headers.get('x-next-offset')}`
  }
}

/** All stored events have arrived, each as Berth shows it. */
async function arrives(server: TestServer, collector: OtlpCollector, session: string): Promise<SeenEvent[]> {
  const stored = await eventsOf(server, session)
  await collector.until('all stored events', () => collector.of(session).length >= stored.length, 60_000)
  assert.deepEqual(collector.of(session).map(asSeen).slice(0, stored.length), stored)
  return stored
}

test('a browser exports every event through a kill -9 of the server and an outage of the collector', async (t) => {
  const collector = await OtlpCollector.start(t)
  const env = mayReachCollectors
  const first = await startServer(t, { hasRealInstances: true, env })
  const BERTH_PORT = new URL(first.url).port
  const id = await newDestination(first, collector)
  const session = await createSession(first, exporting(id, { console: on, page: on }))
  // Keeps the session awake.
  await EventReader.open(first, session.session_id)
  // The page continues without a server; every line has a number.
  await withCdp(session.cdp_ws_url, (cdp) =>
    cdp.evaluate(
      'globalThis.count = 0; setInterval(() => { if (count < 600) console.log(String(count++)) }, 20); 0',
    ),
  )
  await collector.until('the first lines', ({ events }) => events.length > 20)
  await collector.stop()
  const before = collector.events.length
  await eventually(
    'the outage shows',
    async () =>
      (await send<OtlpDestination>(first, 'GET', `/telemetry/destinations/${id}`)).body.delivery
        .consecutive_failures > 0,
    20_000,
  )
  await first.stop('SIGKILL')
  const second = await startServer(t, {
    hasRealInstances: true,
    env: { ...env, BERTH_PORT },
    dataDir: first.dataDir,
  })
  assert.equal(collector.events.length, before)
  await EventReader.open(second, session.session_id)
  await collector.resume()
  const lines = () =>
    collector
      .of(session.session_id)
      .filter(({ event }) => event.type === 'console_log')
      .map(({ event }) => String(dataOf(event)['text']))
  await collector.until('the last line', () => lines().at(-1) === '599', 90_000)
  assert.deepEqual(
    lines(),
    Array.from({ length: 600 }, (_, index) => String(index)),
  )
  await send(second, 'DELETE', `/browsers/${session.session_id}`)
  const stored = await arrives(second, collector, session.session_id)
  assert.ok(stored.length > 600)
})

test('what is stored is delivered after the session, the server and the collector were all gone', async (t) => {
  const collector = await OtlpCollector.start(t)
  const first = await startServer(t, { env: mayReachCollectors })
  const id = await newDestination(first, collector)
  await collector.stop()
  const session = await createSession(first, exporting(id))
  await act(first, session.session_id, 700)
  await send(first, 'DELETE', `/browsers/${session.session_id}`)
  await eventually('all are stored', async () => (await eventsOf(first, session.session_id)).length >= 700)
  await first.stop('SIGKILL')
  await collector.resume()
  const second = await startServer(t, { env: mayReachCollectors, dataDir: first.dataDir })
  const stored = await arrives(second, collector, session.session_id)
  assert.equal(collector.events.length, stored.length, 'each once')
})

test('a server that is killed after a delivery, before it is written down, delivers again', async (t) => {
  const collector = await OtlpCollector.start(t)
  const first = await startServer(t, {
    env: { ...mayReachCollectors, BERTH_CRASH_AT: 'telemetry-delivered' },
  })
  const id = await newDestination(first, collector)
  const session = await createSession(first, exporting(id))
  await act(first, session.session_id, 3).catch(() => {})
  await collector.until('the first delivery', ({ events }) => events.length > 0)
  await first.stop()
  const earlier = collector.events.length
  const second = await startServer(t, { env: mayReachCollectors, dataDir: first.dataDir })
  await collector.until('it comes again', ({ events }) => events.length >= earlier * 2)
  await arrives(second, collector, session.session_id)
  assert.deepEqual(
    collector.events.slice(earlier, earlier * 2).map(asSeen),
    collector.events.slice(0, earlier).map(asSeen),
  )
})

async function startFleet(t: TestContext): Promise<TestServer[]> {
  const { url } = await newDatabase(t)
  const env = {
    ...mayReachCollectors,
    DATABASE_URL: url,
    BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BERTH_API_KEY: 'sk_exporting000_abcdefghijklmnopqrstuvwxyz012345',
  }
  return Promise.all([startServer(t, { env }), startServer(t, { env })])
}

test('of several servers one delivers, and the other takes over when it stops', async (t) => {
  const collector = await OtlpCollector.start(t)
  const [one, other] = (await startFleet(t)) as [TestServer, TestServer]
  const id = await newDestination(one, collector)
  const session = await createSession(one, exporting(id))
  const elsewhere = await createSession(other, exporting(id))
  for (let round = 0; round < 5; round++) {
    await act(one, session.session_id, 40)
    await act(other, elsewhere.session_id, 40)
  }
  await arrives(one, collector, session.session_id)
  await arrives(one, collector, elsewhere.session_id)
  const numbers = collector.events.map(({ sessionId, seq }) => `${sessionId}/${seq}`)
  assert.equal(new Set(numbers).size, numbers.length, 'each once')

  const [holder] = await query<{ address: string }>(
    one,
    `SELECT address FROM servers JOIN telemetry_destinations ON server_id = servers.id WHERE telemetry_destinations.id = '${id}'`,
  )
  const isOne = new URL(holder!.address).port === new URL(one.url).port
  const [gone, left, at] = isOne ? [one, other, elsewhere] : [other, one, session]
  await gone.stop('SIGKILL')
  await act(left, at.session_id, 10)
  const before = collector.events.length
  // As when the time of the lease has passed.
  await query(left, 'UPDATE telemetry_destinations SET leased_until = now()')
  await collector.until('the other delivers', ({ events }) => events.length > before, 30_000)
  await arrives(left, collector, at.session_id)
})
