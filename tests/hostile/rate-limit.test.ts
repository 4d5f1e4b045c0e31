// The rate limit counts all keys of a project together, and ignores claimed addresses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertError } from '../conformance/error-answer.ts'
import { newKey, newProject } from '../conformance/fixture-keys.ts'
import { HttpCaller, type Answer } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { startServer } from '../fixtures/server.ts'

const PER_MINUTE = 50
const SPOOFED = '203.0.113.7'
const spoofs = [
  ['X-Forwarded-For', SPOOFED],
  ['X-Forwarded-For', `${SPOOFED}, 127.0.0.1`],
  ['Forwarded', `for=${SPOOFED}`],
  ['X-Real-IP', SPOOFED],
  ['True-Client-IP', SPOOFED],
  ['CF-Connecting-IP', SPOOFED],
  ['X-Client-IP', SPOOFED],
] as const

test('the requests of all keys of a project count together, and only waiting helps', async (t) => {
  const server = await startServer(t, {
    env: { BERTH_RATE_LIMIT_PER_MINUTE: String(PER_MINUTE), BERTH_TRUSTED_PROXIES: '10.0.0.0/8' },
  })
  const database = await ServerDatabase.open(t, server)
  const caller = new HttpCaller(t, server.url)
  const project = await newProject(caller, server.key, 'Counted')
  const keyOf = async (projectId: string) =>
    (await newKey(caller, server.key, { name: 'one of several', project_id: projectId })).key
  const keys = [await keyOf(project.id), await keyOf(project.id), await keyOf(project.id)]
  const other = await newProject(caller, server.key, 'Other')
  const otherKey = await keyOf(other.id)
  const ofOrganization = 6
  const ask = (index: number, spoof?: readonly [string, string]): Promise<Answer> =>
    caller.sendAs(keys[index % keys.length]!, {
      method: 'GET',
      path: '/org/limits',
      headers: spoof ? [spoof] : [],
    })

  for (let used = 0; used < PER_MINUTE; used++) {
    const answer = await ask(used, spoofs[used])
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers['x-ratelimit-limit'], String(PER_MINUTE))
    assert.equal(answer.headers['x-ratelimit-remaining'], String(PER_MINUTE - used - 1))
  }

  const before = await database.state()
  for (let index = 0; index < keys.length; index++) {
    for (const spoof of [undefined, ...spoofs]) {
      const answer = await ask(index, spoof)
      assertError(answer, 'too_many_requests')
      const retryAfter = Number(answer.headers['retry-after'])
      assert.ok(retryAfter >= 1 && retryAfter <= 60, `Retry-After: ${answer.headers['retry-after']}`)
      assert.equal(answer.headers['x-ratelimit-limit'], String(PER_MINUTE))
      assert.equal(answer.headers['x-ratelimit-remaining'], '0')
    }
    const create = await caller.sendJson(keys[index]!, 'POST', '/org/projects', { name: 'too many' })
    assertError(create, 'too_many_requests')
  }
  assert.deepEqual(await database.state(), before)

  // Other projects have their own share, and so has a key without a project. With a header, it counts for the project.
  const named = (name: string) =>
    caller.sendAs(server.key, { method: 'GET', path: '/org/limits', headers: [['X-Kernel-Project', name]] })
  const asOther = await caller.sendJson(otherKey, 'GET', '/org/limits')
  assert.deepEqual(remaining(asOther), [200, String(PER_MINUTE - 1)])
  assert.deepEqual(remaining(await named('Other')), [200, String(PER_MINUTE - 2)])
  assertError(await named('Counted'), 'too_many_requests')
  const withoutProject = await caller.sendJson(server.key, 'GET', '/org/limits')
  assert.deepEqual(remaining(withoutProject), [200, String(PER_MINUTE - ofOrganization - 1)])
  const unknown = await named('No such project')
  assertError(unknown, 'project_not_found')
  assert.equal(unknown.headers['x-ratelimit-remaining'], String(PER_MINUTE - ofOrganization - 2))

  // Strangers get 429, too; paths without a key do not count.
  assertError(await caller.sendJson('nonsense', 'GET', '/org/limits'), 'unauthorized')
  assert.equal((await caller.send({ method: 'GET', path: '/health' })).status, 200)

  const afterwards = 5
  const refused = keys.length * (spoofs.length + 2)
  const addresses = await untilRecorded(database, ofOrganization + PER_MINUTE + refused + afterwards)
  assert.deepEqual(addresses, ['127.0.0.1'])
})

const remaining = ({ status, headers }: Answer) => [status, headers['x-ratelimit-remaining']]

/** Refusals are written in batches, a moment later. */
async function untilRecorded(database: ServerDatabase, count: number): Promise<unknown[]> {
  const deadline = performance.now() + 10_000
  while ((await database.count('audit_logs')) < count) {
    assert.ok(performance.now() < deadline, `only ${await database.count('audit_logs')} of ${count} recorded`)
    await delay(50)
  }
  assert.equal(await database.count('audit_logs'), count)
  const rows = await database.run('SELECT DISTINCT client_ip FROM audit_logs')
  return rows.map((row) => row['client_ip'])
}

test('only the address that a trusted proxy itself added is trusted', async (t) => {
  const server = await startServer(t, { env: { BERTH_TRUSTED_PROXIES: '127.0.0.1' } })
  const caller = new HttpCaller(t, server.url)
  const forwarded = [SPOOFED, `198.51.100.1, ${SPOOFED}`, `127.0.0.1, ${SPOOFED}, 127.0.0.1`]
  for (const [index, value] of forwarded.entries()) {
    const headers = [['X-Forwarded-For', value]] as const
    await caller.sendAs(server.key, { method: 'GET', path: `/org/projects/asked-${index}`, headers })
  }
  const now = Date.now()
  const range = `start=${new Date(now - 600_000).toISOString()}&end=${new Date(now + 600_000).toISOString()}`
  const answer = await caller.sendJson(server.key, 'GET', `/audit-logs?${range}&search=asked-`)
  const addresses = (answer.json as { client_ip: string }[]).map(({ client_ip }) => client_ip)
  assert.deepEqual(addresses, [SPOOFED, SPOOFED, SPOOFED])
})
