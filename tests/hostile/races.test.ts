// Concurrent changes: in any order, none causes a server error, and the invariants hold.
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ErrorCode } from '@berth/contracts/errors'
import { assertError } from '../conformance/error-answer.ts'
import { newKey, newProject } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { startServer } from '../fixtures/server.ts'
import { assertNoFaultLogged } from './server-log.ts'

const owner = { after }
const server = await startServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)

/** The test's own transaction; requests that need its locks wait until it ends. */
async function inTheWay(t: TestContext, ...statements: string[]): Promise<ServerDatabase> {
  const blocker = await ServerDatabase.open(t, server)
  await blocker.run('BEGIN')
  for (const statement of statements) await blocker.run(statement)
  return blocker
}

/** Waits until that many requests are blocked, or until the given one no longer is. */
async function untilWaiting(count: number, request?: Promise<unknown>): Promise<void> {
  const answered = new AbortController()
  void request?.finally(() => answered.abort())
  const deadline = performance.now() + 5_000
  while (!answered.signal.aborted) {
    if ((await database.run('SELECT 1 FROM pg_locks WHERE NOT granted')).length >= count) return
    assert.ok(performance.now() < deadline, 'the request did not wait for the lock')
    await delay(5)
  }
}

// Names and a limit set while the project is deleted; a new name set while the key is deleted.
const overtaken: [
  what: string,
  table: string,
  path: (id: string) => string,
  body: object,
  code: ErrorCode,
][] = [
  ['renaming a project', 'projects', (id) => `/org/projects/${id}`, { name: 'too late' }, 'not_found'],
  [
    'limiting a project',
    'projects',
    (id) => `/org/projects/${id}/limits`,
    { max_pooled_sessions: 1 },
    'not_found',
  ],
  ['renaming a key', 'api_keys', (id) => `/org/api_keys/${id}`, { name: 'too late' }, 'not_found'],
]

for (const [what, table, path, body, code] of overtaken) {
  test(`${what} that is deleted at the same time finds nothing to change`, async (t) => {
    const { id } =
      table === 'projects'
        ? await newProject(caller, server.key, `overtaken by ${what}`)
        : await newKey(caller, server.key, { name: `overtaken by ${what}` })
    const blocker = await inTheWay(t, `UPDATE ${table} SET deleted_at = now() WHERE id = '${id}'`)
    const answer = caller.sendJson(server.key, 'PATCH', path(id), body)
    await untilWaiting(1)
    await blocker.run('COMMIT')
    assertError(await answer, code)
  })
}

test('rotating a key that is deleted at the same time leaves no successor', async (t) => {
  const { id } = await newKey(caller, server.key, { name: 'rotated while deleted' })
  const blocker = await inTheWay(t, `UPDATE api_keys SET deleted_at = now() WHERE id = '${id}'`)
  const answer = caller.sendJson(server.key, 'POST', `/org/api_keys/${id}/rotate`, {})
  await untilWaiting(1)
  await blocker.run('COMMIT')
  assertError(await answer, 'not_found')
  const alive = `SELECT 1 FROM api_keys WHERE name = 'rotated while deleted' AND deleted_at IS NULL`
  assert.equal((await database.run(alive)).length, 0)
})

test('no key outlives its project, even one rotated while both are deleted', async (t) => {
  const project = await newProject(caller, server.key, 'deleted under a rotation')
  const { id } = await newKey(caller, server.key, { name: 'rotated', project_id: project.id })
  await caller.sendJson(server.key, 'GET', '/org/limits')
  const keys = await inTheWay(
    t,
    'LOCK TABLE api_keys IN SHARE ROW EXCLUSIVE MODE',
    `SET LOCAL lock_timeout = '300ms'`,
  )
  const trail = await inTheWay(t, 'LOCK TABLE audit_logs IN SHARE ROW EXCLUSIVE MODE')
  const rotation = caller.sendJson(server.key, 'POST', `/org/api_keys/${id}/rotate`, {})
  await untilWaiting(1)
  // Deletes the key between the rotation's read and its write, unless the rotation holds a lock.
  await keys.run(`UPDATE api_keys SET deleted_at = now() WHERE id = '${id}'`).then(
    () => keys.run('COMMIT'),
    () => keys.run('ROLLBACK'),
  )
  await untilWaiting(1, rotation)
  const deletion = caller.sendJson(server.key, 'DELETE', `/org/projects/${project.id}`)
  await untilWaiting(2, deletion)
  await trail.run('COMMIT')
  for (const answer of [await rotation, await deletion]) assert.ok(answer.status < 500, answer.text)
  const orphans = `SELECT api_keys.id FROM api_keys JOIN projects ON projects.id = project_id
    WHERE api_keys.deleted_at IS NULL AND projects.deleted_at IS NOT NULL`
  assert.deepEqual(await database.run(orphans), [])
})

test('fifty parallel creates of one project name create one project', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      caller.sendJson(server.key, 'POST', '/org/projects', { name: 'wanted' }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 201)) assertError(answer, 'already_exists')
})

test('after any number of parallel archives and deletes, one active project is left, and it is the default', async () => {
  for (let count = 0; count < 6; count++) await newProject(caller, server.key, `one of many ${count}`)
  const listed = await caller.sendJson(server.key, 'GET', '/org/projects?limit=100')
  const projects = listed.json as { id: string }[]
  const answers = await Promise.all(
    projects.map(({ id }, index) =>
      index % 2 === 0
        ? caller.sendJson(server.key, 'PATCH', `/org/projects/${id}`, { status: 'archived' })
        : caller.sendJson(server.key, 'DELETE', `/org/projects/${id}`),
    ),
  )
  const refused = answers.filter(({ status }) => status >= 400)
  for (const answer of refused) assertError(answer, ['last_active_project', 'project_not_empty'])
  const active = await database.run(
    `SELECT is_default FROM projects WHERE deleted_at IS NULL AND status = 'active'`,
  )
  assert.ok(active.length > 0)
  assert.equal(active.filter((row) => row['is_default']).length, 1)
})

test('two parallel deletes of a key both succeed', async () => {
  const { id } = await newKey(caller, server.key, { name: 'deleted twice' })
  const deletes = Array.from({ length: 10 }, () =>
    caller.sendJson(server.key, 'DELETE', `/org/api_keys/${id}`),
  )
  assert.deepEqual([...new Set((await Promise.all(deletes)).map(({ status }) => status))], [204])
})

test('no request caused a server error', () => assertNoFaultLogged(server))
