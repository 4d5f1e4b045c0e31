// A busy project slows down only itself: its starts, its calls and its held requests leave room for those of another.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { errorCatalogue } from '@berth/contracts/errors'
import { assertError } from '../conformance/error-answer.ts'
import { newTenant, type Tenant } from '../conformance/fixture-keys.ts'
import { HttpCaller, type Answer } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { NEVER_STARTS, state } from '../fixtures/fake/fake-driver.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import type { Session } from '../fixtures/sessions.ts'

const STARTS = Math.max(2, 2 * availableParallelism())
const WAITING_STARTS = 2
const HELD_CALLS = Math.max(100, STARTS + WAITING_STARTS)
const REQUESTS = HELD_CALLS + 1
const CALLS = 100
const DATABASE_POOL = 4

const owner = { after }
const server = await startServer(owner, {
  env: {
    BERTH_MAX_CONCURRENT_SESSIONS: '1000',
    BERTH_DATABASE_POOL: String(DATABASE_POOL),
    BERTH_MAX_WAITING_STARTS: String(WAITING_STARTS),
    BERTH_MAX_CALLS_AT_ONCE: String(HELD_CALLS),
    BERTH_MAX_REQUESTS_AT_ONCE: String(REQUESTS),
  },
})
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const busy = await newTenant(caller, server.key, 'Busy')
const quiet = await newTenant(caller, server.key, 'Quiet')

const post = ({ key }: Tenant, path: string, body: object, headers: [string, string][] = []) =>
  caller.sendAs(key.key, {
    method: 'POST',
    path,
    headers: [['Content-Type', 'application/json'], ...headers],
    body: JSON.stringify(body),
  })

/** Requests of the busy project whose answers do not come. */
class HeldRequests {
  /** The statuses of those that were answered after all. */
  readonly answered: number[] = []
  readonly #leaving = new AbortController()
  readonly #refused: (() => void)[] = []
  #count = 0

  send(path: string, body: object): void {
    const headers = {
      authorization: `Bearer ${busy.key.key}`,
      'content-type': 'application/json',
      'idempotency-key': `held-${path}-${this.#count++}`,
    }
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: this.#leaving.signal }
    void fetch(server.url + path, init).then(
      ({ status }) => this.#hear(status, () => this.send(path, body)),
      () => {},
    )
  }

  #hear(status: number, again: () => void): void {
    this.answered.push(status)
    if (status === 429) this.#refused.push(again)
  }

  /** Sends those again that were refused, because a request that looks took their place for a moment. */
  sendRefusedAgain(): void {
    for (const again of this.#refused.splice(0)) again()
  }

  leave(): void {
    this.#leaving.abort()
  }
}

async function countSessions({ project }: Tenant): Promise<number> {
  const [row] = await database.run(
    'SELECT count(*)::int AS count FROM browsers WHERE deleted_at IS NULL AND project_id = $1',
    [project.id],
  )
  return row!['count'] as number
}

async function newSession(tenant: Tenant): Promise<Session> {
  const answer = await post(tenant, '/browsers', { headless: true })
  assert.equal(answer.status, 200, answer.text)
  return answer.json as Session
}

const exec = (tenant: Tenant, { session_id }: Session, body: object = { command: 'true' }) =>
  post(tenant, `/browsers/${session_id}/process/exec`, body)

function assertRefused(answer: Answer, message: RegExp): void {
  assert.match(assertError(answer, 'too_many_requests').message, message)
  assert.equal(answer.headers['retry-after'], '1')
}

/** From now on, calls into the session are not answered. */
async function hang(tenant: Tenant, session: Session): Promise<void> {
  const path = join(tempDir(owner), 'agent.sock')
  const agent = createServer((request, response) => {
    request.resume()
    if (!/^\/(control|profile)\b/.test(request.url!)) response.end(JSON.stringify(state))
  })
  agent.listen(path)
  await once(agent, 'listening')
  cleanUpAfter(owner, () => {
    agent.closeAllConnections()
    agent.close()
  })
  const replaced = await exec(tenant, session, { command: 'replace-agent', args: [path] })
  assert.equal(replaced.status, 200)
}

/** The median of small calls, one after another. */
async function latencyOf(tenant: Tenant, session: Session): Promise<number> {
  const all: number[] = []
  for (let count = 0; count < CALLS; count++) {
    const startedAt = performance.now()
    const { status } = await exec(tenant, session)
    assert.equal(status, 200)
    all.push(performance.now() - startedAt)
  }
  return all.toSorted((a, b) => a - b)[CALLS / 2]!
}

test('held calls and requests of one project are bounded, and the calls of another are as quick as before', async (t) => {
  const [one, two, usual] = [await newSession(busy), await newSession(busy), await newSession(busy)]
  const other = await newSession(quiet)
  await hang(busy, one)
  await hang(busy, two)
  await latencyOf(quiet, other)
  const before = await latencyOf(quiet, other)

  const held = new HeldRequests()
  cleanUpAfter(t, () => held.leave())
  const isRefused = (answer: Answer) => {
    held.sendRefusedAgain()
    refused = answer
    return answer.status === 429
  }
  for (let count = 0; count < HELD_CALLS; count++) {
    held.send(`/browsers/${(count % 2 === 0 ? one : two).session_id}/process/exec`, { command: 'true' })
  }
  let refused: Answer
  await eventually('no call is left', async () => isRefused(await exec(busy, usual)))
  assertRefused(refused!, new RegExp(`${HELD_CALLS} calls to sessions of the project are running`))
  // Other requests of the project pass, until too many of all kinds are held.
  assert.equal((await caller.sendJson(busy.key.key, 'GET', '/org/limits')).status, 200)
  held.send('/browsers', { headless: true, timezone: NEVER_STARTS })
  const ask = () => caller.sendJson(busy.key.key, 'GET', '/org/limits')
  await eventually('no request is left', async () => isRefused(await ask()))
  assertRefused(refused!, new RegExp(`${REQUESTS} requests of the project are running`))
  // An organisation-wide key counts for the project that it names, and has its own share without one.
  const header = [['X-Kernel-Project', 'Busy']] as const
  const named = await caller.sendAs(server.key, { method: 'GET', path: '/org/limits', headers: header })
  assertRefused(named, /requests of the project/)
  assert.equal((await caller.sendJson(server.key, 'GET', '/org/limits')).status, 200)

  const during = await latencyOf(quiet, other)
  const figures = `${before.toFixed(1)} ms before, ${during.toFixed(1)} ms during`
  t.diagnostic(figures)
  assert.ok(during < 5 * before + 100, figures)

  held.leave()
  await eventually('there is room again', async () => (await exec(busy, usual)).status === 200)
  for (const { session_id } of [one, two, usual]) {
    const ended = await caller.sendJson(busy.key.key, 'DELETE', `/browsers/${session_id}`)
    assert.equal(ended.status, 204, ended.text)
  }
  await eventually('they end', async () => (await countSessions(busy)) === 0)
})

test('an act with an Idempotency-Key waits for none that hangs', async () => {
  const session = await newSession(quiet)
  const held = new HeldRequests()
  const count = STARTS + WAITING_STARTS
  assert.ok(count > DATABASE_POOL / 2)
  for (let index = 0; index < count; index++) {
    held.send('/browsers', { headless: true, timezone: NEVER_STARTS })
  }
  await eventually('they work', async () => (await countSessions(busy)) >= count)
  const path = `/browsers/${session.session_id}/live_view_links`
  const link = await post(quiet, path, {}, [['Idempotency-Key', 'a-link']])
  assert.equal(link.status, 201, link.text)
  held.leave()
  await eventually('they end', async () => (await countSessions(busy)) === 0)
})

test('requests with one Idempotency-Key wait for the first, and one takes over when it leaves', async () => {
  const body = { headless: true, timezone: NEVER_STARTS }
  const leaving = new AbortController()
  const ask = (given: object, signal?: AbortSignal) =>
    fetch(`${server.url}/browsers`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${busy.key.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'passed-on',
      },
      body: JSON.stringify(given),
      ...(signal && { signal }),
    })
  const first = ask(body, leaving.signal)
  await eventually('it starts', async () => (await countSessions(busy)) === 1)
  const second = ask({ headless: true })
  const third = ask({ headless: true })
  leaving.abort()
  await assert.rejects(first)
  const answers = await Promise.all([second, third])
  const ids = await Promise.all(answers.map(async (answer) => ((await answer.json()) as Session).session_id))
  assert.deepEqual([answers.map(({ status }) => status), new Set(ids).size], [[200, 200], 1])
  await eventually('one is left', async () => (await countSessions(busy)) === 1)
  const ended = await caller.sendJson(busy.key.key, 'DELETE', `/browsers/${ids[0]}`)
  assert.equal(ended.status, 204, ended.text)
})

test('starts of one project that take for ever leave a place for another, also with an Idempotency-Key', async () => {
  const held = new HeldRequests()
  for (let count = 0; count < STARTS + WAITING_STARTS + 1; count++) {
    held.send('/browsers', { headless: true, timezone: NEVER_STARTS })
  }
  // One finds no place, not even to wait.
  await eventually('one is refused', () => held.answered.length > 0)
  const refused = await post(busy, '/browsers', { headless: true })
  assertError(refused, 'capacity_exhausted')
  assert.equal(refused.headers['retry-after'], '5')
  for (const key of ['one', 'two', 'three']) {
    const made = await post(quiet, '/browsers', { headless: true }, [['Idempotency-Key', key]])
    assert.equal(made.status, 200, made.text)
    const again = await post(quiet, '/browsers', { headless: true }, [['Idempotency-Key', key]])
    assert.deepEqual([again.text, again.headers['idempotent-replayed']], [made.text, 'true'])
  }
  assert.deepEqual(new Set(held.answered), new Set([errorCatalogue.capacity_exhausted.status]))
  held.leave()
  await eventually('they end', async () => (await countSessions(busy)) === 0)
})

async function endWithSave(tenant: Tenant, name: string, { hangs }: { hangs: boolean }): Promise<void> {
  const profile = await post(tenant, '/profiles', { name })
  assert.equal(profile.status, 201, profile.text)
  const made = await post(tenant, '/browsers', { headless: true, profile: { name, save_changes: true } })
  assert.equal(made.status, 200, made.text)
  const session = made.json as Session
  if (hangs) await hang(tenant, session)
  const path = `/browsers/${session.session_id}`
  const ending = caller.sendJson(tenant.key.key, 'DELETE', path)
  if (!hangs) {
    const ended = await ending
    assert.equal(ended.status, 204, ended.text)
    return
  }
  // The answer comes when the server stops waiting for the save.
  ending.catch(() => {})
  const sql = 'SELECT 1 FROM browsers WHERE id = $1 AND deleted_at IS NOT NULL'
  await eventually('its end is stored', async () => {
    return (await database.run(sql, [session.session_id])).length > 0
  })
}

async function countSaved({ project }: Tenant): Promise<unknown> {
  const [row] = await database.run(
    `SELECT count(*)::int AS count FROM profile_versions JOIN profiles ON profiles.id = profile_id
      WHERE project_id = $1`,
    [project.id],
  )
  return row!['count']
}

test('saves of one project that take for ever leave a place for another', async () => {
  for (let count = 0; count < 5; count++) await endWithSave(busy, `hangs-${count}`, { hangs: true })
  await endWithSave(quiet, 'kept', { hangs: false })
  await eventually('it is saved', async () => (await countSaved(quiet)) === 1)
  assert.equal(await countSaved(busy), 0)
  // Otherwise it would wait for the saves.
  await server.stop('SIGKILL')
})
