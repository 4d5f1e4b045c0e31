// The telemetry API with fake instances: configuration, the servers' own events, and reading.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { client55, client70, client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'
import { EventReader, type SeenEvent } from '../fixtures/telemetry.ts'

const server = await startServer({ after }, { env: { BERTH_MAX_CONCURRENT_SESSIONS: '50' } })
const on = { enabled: true }
const off = { enabled: false }
const four = { console: on, page: on, interaction: on, network: on }
const operational = { control: on, connection: on, system: on, captcha: on }

interface Shown {
  readonly session_id: string
  readonly telemetry?: { readonly browser: Readonly<Record<string, { readonly enabled: boolean }>> }
}
const asNew = { 'x-stainless-package-version': '0.84.0', 'x-stainless-lang': 'js' }
const create = async (telemetry: unknown, headers = {}) =>
  (await send<Shown>(server, 'POST', '/browsers', { headless: true, telemetry }, headers)).body

// Opened first, so that it is silent while the others are tested.
const silent = await create({ enabled: true }, asNew)
const silentReader = await EventReader.open(server, silent.session_id)

test('plain requests and old clients: a given config captures everything it does not turn off', async () => {
  assert.deepEqual((await create({})).telemetry, { browser: four })
  assert.deepEqual((await create({ browser: { network: off } })).telemetry, {
    browser: { ...four, network: off },
  })
  assert.equal((await create(null)).telemetry, undefined)
  const made = (await client55(server).post('/browsers', {
    body: { headless: true, telemetry: { browser: {} } },
  })) as Shown
  assert.deepEqual(made.telemetry, { browser: four })
})

test('clients from 0.64 on: a default set, and categories to opt in to', async () => {
  for (const client of [client70(server), client84(server)]) {
    const none = await client.browsers.create({ headless: true, telemetry: {} })
    assert.equal(none.telemetry, undefined)
    const { telemetry } = await client.browsers.create({ headless: true, telemetry: { enabled: true } })
    const expected = {
      console: off,
      page: off,
      interaction: off,
      network: off,
      screenshot: off,
      ...operational,
    }
    assert.deepEqual(telemetry, { browser: expected })
    const more = await client.browsers.create({
      headless: true,
      telemetry: { browser: { console: on, control: off } },
    })
    assert.deepEqual(more.telemetry, { browser: { ...expected, console: on, control: off } })
  }
})

test('an update merges, replaces, stops or keeps the config, and each client reads it in its own format', async () => {
  const { browsers } = client84(server)
  const { session_id: id } = await browsers.create({
    headless: true,
    telemetry: { browser: { console: on } },
  })
  const update = async (telemetry: Parameters<typeof browsers.update>[1]['telemetry']) =>
    (await browsers.update(id, { telemetry: telemetry ?? null })).telemetry?.browser
  assert.deepEqual((await update({ browser: { page: on } }))!.console, on)
  assert.deepEqual((await update({}))!.page, on)
  assert.deepEqual((await update(null))!.page, on)
  assert.deepEqual((await update({ enabled: true }))!.page, off)
  const plain = await send<Shown>(server, 'GET', `/browsers/${id}`)
  assert.deepEqual(plain.body.telemetry!.browser, {
    console: off,
    page: off,
    interaction: off,
    network: off,
    ...operational,
  })
  assert.equal(await update({ enabled: false }), undefined)
  const bad = await send(server, 'PATCH', `/browsers/${id}`, { telemetry: { enabled: false, browser: {} } })
  assert.equal(bad.status, 400)
  assert.match(bad.body.message!, /telemetry/)
  for (const telemetry of [{ browser: { console: 'yes' } }, { enabled: 'yes' }, 'all']) {
    assert.equal((await send(server, 'PATCH', `/browsers/${id}`, { telemetry })).status, 400)
  }
  const newer = await send(server, 'PATCH', `/browsers/${id}`, { telemetry: { browser: { unknown: on } } })
  assert.equal(newer.status, 200)
  assert.equal(newer.headers.get('x-berth-ignored'), 'telemetry.browser.unknown')
})

/** A session with that many events, one for each call. */
async function withEvents(count: number): Promise<string> {
  const { session_id: id } = await create({ enabled: true }, asNew)
  const reader = await EventReader.open(server, id)
  for (let made = 0; made < count; made++) await send(server, 'GET', `/browsers/${id}/fs/file_info?path=/`)
  await reader.until('all events', () => reader.events.length >= count)
  reader.close()
  return id
}

const page = async (id: string, search: string) => {
  const { status, headers, body } = await send<SeenEvent[]>(
    server,
    'GET',
    `/browsers/${id}/telemetry/events?${search}`,
  )
  const numbers = status === 200 ? body.map(({ seq }) => seq) : []
  return { status, numbers, next: headers.get('x-next-offset'), hasMore: headers.get('x-has-more') }
}

test('history is read in pages, from either end, and by category and time', async () => {
  const id = await withEvents(7)
  assert.deepEqual(await page(id, 'limit=3'), { status: 200, numbers: [1, 2, 3], next: '4', hasMore: 'true' })
  assert.deepEqual(await page(id, 'limit=3&offset=4'), {
    status: 200,
    numbers: [4, 5, 6],
    next: '7',
    hasMore: 'true',
  })
  assert.deepEqual(await page(id, 'limit=3&offset=7'), {
    status: 200,
    numbers: [7],
    next: '0',
    hasMore: 'false',
  })
  assert.deepEqual((await page(id, 'limit=3&order=desc')).numbers, [7, 6, 5])
  const { next } = await page(id, 'limit=3&order=desc')
  assert.deepEqual((await page(id, `limit=5&order=desc&offset=${next}`)).numbers, [4, 3, 2, 1])
  assert.deepEqual((await page(id, 'category=control')).numbers, [1, 2, 3, 4, 5, 6, 7])
  assert.deepEqual((await page(id, 'category=console,network')).numbers, [])
  assert.deepEqual((await page(id, 'category=console&category=control&limit=1')).numbers, [1])
  assert.deepEqual((await page(id, 'until=1h')).numbers, [])
  assert.deepEqual((await page(id, 'since=1h&until=0s')).numbers.length, 7)
  assert.deepEqual((await page(id, `since=${new Date(Date.now() + 1000).toISOString()}`)).numbers, [])
  for (const wrong of [
    'order=desc&since=5m',
    'order=up',
    'since=5y',
    'since=-5m',
    'until=x',
    'limit=0',
    'limit=101',
    'offset=-1',
    'offset=x',
    'category=other',
  ]) {
    assert.equal((await page(id, wrong)).status, 400, wrong)
  }
  await send(server, 'DELETE', `/browsers/${id}`)
  assert.deepEqual((await page(id, 'limit=2')).numbers, [1, 2], 'also after the session has ended')
})

test('a session without events has an empty history and an empty HAR', async () => {
  const { session_id: id } = await create(undefined)
  assert.deepEqual((await page(id, '')).numbers, [])
  const har = await send<{ log: { entries: unknown[] } }>(server, 'GET', `/browsers/${id}/telemetry/har`)
  assert.deepEqual(har.body.log.entries, [])
  assert.equal((await send(server, 'GET', '/browsers/nobody/telemetry/har')).status, 404)
  const reader = await EventReader.open(server, id)
  await send(server, 'GET', `/browsers/${id}/fs/file_info?path=/`)
  await send(server, 'DELETE', `/browsers/${id}`)
  await reader.ended
  assert.deepEqual(reader.events, [], 'it was silent')
})

test('a stream begins now, at the beginning, or where another one ended', async () => {
  const id = await withEvents(4)
  const numbers = async (options: Parameters<typeof EventReader.open>[2], count: number) => {
    const reader = await EventReader.open(server, id, options)
    await send(server, 'GET', `/browsers/${id}/fs/file_info?path=/`)
    await reader.until('the newest', () => reader.events.length >= count)
    reader.close()
    return reader.events.map(({ seq }) => seq)
  }
  assert.deepEqual(await numbers({}, 1), [5])
  assert.deepEqual(await numbers({ replay: 'all' }, 6), [1, 2, 3, 4, 5, 6])
  assert.deepEqual(await numbers({ replay: 'some' }, 1), [7])
  assert.deepEqual(await numbers({ lastEventId: 5 }, 3), [6, 7, 8])
  assert.deepEqual(await numbers({ lastEventId: 6, replay: 'all' }, 3), [7, 8, 9])
  assert.deepEqual(await numbers({ lastEventId: 0, replay: 'all' }, 1), [10])
  assert.deepEqual(await numbers({ lastEventId: '99999999999999999999' }, 1), [11])
})

test('clients of every version get events in their own format', async () => {
  const id = await withEvents(1)
  const seenBy = async (version: string) => {
    const headers = { 'x-stainless-lang': 'js', 'x-stainless-package-version': version }
    return (await send<SeenEvent[]>(server, 'GET', `/browsers/${id}/telemetry/events`, undefined, headers))
      .body[0]!.event
  }
  assert.ok(!('category' in (await seenBy('0.58.0'))))
  assert.equal((await seenBy('0.63.0')).category, 'control')
  assert.equal((await seenBy('0.84.0')).category, 'control')
})

test('events are encrypted at rest', async () => {
  const id = await withEvents(1)
  const [row] = await query<{ payload: Buffer }>(
    server,
    'SELECT payload FROM telemetry_segments WHERE session_id = $1',
    [id],
  )
  for (const word of ['api_call', 'fileInfo', 'seq']) assert.ok(!row!.payload.includes(word), word)
})

test('a silent stream sends keep-alives', async () => {
  await silentReader.until('a comment', ({ text }) => /^:[^\n]*\n\n$/m.test(text), 20_000)
  assert.deepEqual(silentReader.events, [])
  silentReader.close()
})
