// Every method of `apiKeys`, in the versions of the published client that have it.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { client70, client84 } from './versions.ts'

const DAY_MS = 24 * 3_600_000

function daysUntil(time: string | null): number {
  assert.ok(time)
  return Math.round((Date.parse(time) - Date.now()) / DAY_MS)
}

const shared = await sharedServer({ after })

async function works(server: TestServer, apiKey: string): Promise<boolean> {
  const { status } = await server.fetch('/org/projects', { key: apiKey })
  assert.ok(status === 200 || status === 401, `status ${status}`)
  return status === 200
}

for (const [version, newClient] of Object.entries({ '0.70.0': client70, '0.84.0': client84 })) {
  describe(`client ${version}`, () => {
    test('creates a key that works, shows it once, renames and deletes it', async () => {
      const server = shared
      const { apiKeys } = newClient(server)
      const { key, ...created } = await apiKeys.create({ name: 'agent', days_to_expire: 30 })
      assert.match(key, /^sk_[a-z0-9]{12}_[A-Za-z0-9]{32}$/)
      assert.equal(created.masked_key, `${key.slice(0, 7)}...${key.slice(-4)}`)
      assert.equal(daysUntil(created.expires_at), 30)
      assert.deepEqual(created.created_by, {
        id: 'operator',
        name: 'Operator',
        email: 'operator@example.com',
      })
      assert.equal(created.project_id, null)
      assert.equal(created.project_name, null)
      assert.equal(created.deleted_at, null)
      assert.deepEqual(await apiKeys.retrieve(created.id), created, 'the key is not in it')
      assert.ok(await works(server, key))

      const renamed = await apiKeys.update(created.id, { name: 'agent 2' })
      assert.deepEqual(renamed, { ...created, name: 'agent 2' })

      assert.equal(await apiKeys.delete(created.id), null)
      assert.ok(!(await works(server, key)), 'a deleted key stops at once')
      await assert.rejects(apiKeys.retrieve(created.id), { status: 404 })
      const deleted = await apiKeys.retrieve(created.id, { include_deleted: true })
      assert.ok(deleted.deleted_at)
      assert.equal(await apiKeys.delete(created.id), null, 'a repeated delete is success')
    })

    test('pages, sorts and filters its list', async (t) => {
      const server = await startServer(t)
      const client = newClient(server)
      const project = await client.projects.create({ name: 'Blue project' })
      const made = []
      for (const [name, days] of [
        ['delta', 10],
        ['alpha', null],
        ['charlie', 5],
        ['bravo', 20],
      ] as const) {
        made.push(await client.apiKeys.create({ name, days_to_expire: days }))
      }
      const scoped = await client.apiKeys.create({ name: 'echo', project_id: project.id })
      await client.apiKeys.delete(made[3]!.id)
      const names = async (query: Parameters<typeof client.apiKeys.list>[0]) =>
        (await Array.fromAsync(client.apiKeys.list({ limit: 2, ...query }))).map((key) => key.name)

      assert.deepEqual(await names({}), ['echo', 'charlie', 'alpha', 'delta', 'First key'])
      assert.deepEqual(await names({ sort_by: 'name', sort_direction: 'asc' }), [
        'First key',
        'alpha',
        'charlie',
        'delta',
        'echo',
      ])
      assert.deepEqual((await names({ sort_by: 'expires_at', sort_direction: 'asc' })).slice(0, 2), [
        'charlie',
        'delta',
      ])
      assert.deepEqual(await names({ status: 'deleted' }), ['bravo'])
      assert.equal((await names({ status: 'all' })).length, 6)
      assert.equal((await names({ include_deleted: true })).length, 6)
      assert.deepEqual(await names({ query: 'LPH' }), ['alpha'])
      assert.deepEqual(await names({ query: 'blue' }), ['echo'], 'by its project')
      assert.deepEqual(await names({ query: scoped.id }), ['echo'])
      assert.deepEqual(await names({ query: scoped.masked_key }), ['echo'])
      assert.equal((await names({ query: 'operator@' })).length, 5, 'by its creator')
      assert.deepEqual(await names({ query: '%' }), [])
    })

    test('rotates a key with an overlap, or without one', async () => {
      const server = shared
      const { apiKeys } = newClient(server)
      const old = await apiKeys.create({ name: 'agent', days_to_expire: 90 })
      const successor = await apiKeys.rotate(old.id)
      assert.equal(successor.name, 'agent')
      assert.notEqual(successor.id, old.id)
      assert.equal(daysUntil(successor.expires_at), 90, 'the lifetime of the old one')
      assert.equal(daysUntil((await apiKeys.retrieve(old.id)).expires_at), 7)
      assert.ok((await works(server, old.key)) && (await works(server, successor.key)))

      const last = await apiKeys.rotate(successor.id, { expire_in_days: 0, days_to_expire: 1 })
      assert.ok(!(await works(server, successor.key)), 'the overlap was 0 days')
      assert.ok(await works(server, last.key))
      assert.equal(daysUntil(last.expires_at), 1)
      await assert.rejects(apiKeys.rotate(last.id, { days_to_expire: 3, expire_in_days: 5 }), { status: 400 })
      const forever = await apiKeys.create({ name: 'forever' })
      assert.equal((await apiKeys.rotate(forever.id)).expires_at, null)
    })
  })
}

test('a key cannot delete itself', async () => {
  const { apiKeys } = client84(shared)
  const own = (await apiKeys.list({ name: 'First key' })).getPaginatedItems().at(0)
  await assert.rejects(apiKeys.delete(own!.id), {
    status: 400,
    error: {
      code: 'cannot_delete_current_key',
      message: 'Cannot delete the key this request is made with; use another key',
    },
  })
})

test('a project key stays in its project', async () => {
  const server = shared
  const organization = client84(server)
  const own = await organization.projects.create({ name: 'own' })
  const other = await organization.projects.create({ name: 'other' })
  const foreign = await organization.apiKeys.create({ name: 'foreign', project_id: other.id })
  const { key: apiKey, id: ownKeyId } = await organization.apiKeys.create({
    name: 'scoped',
    project_id: own.id,
  })
  const scoped = client84(server, { apiKey })

  assert.deepEqual(
    (await Array.fromAsync(scoped.projects.list())).map((project) => project.name),
    ['own'],
  )
  assert.equal((await scoped.projects.update(own.id, { name: 'mine' })).name, 'mine')
  assert.deepEqual(
    (await Array.fromAsync(scoped.apiKeys.list())).map((key) => key.id),
    [ownKeyId],
  )
  for (const attempt of [
    () => scoped.projects.retrieve(other.id),
    () => scoped.projects.retrieve('other'),
    () => scoped.projects.update(other.id, { name: 'x' }),
    () => scoped.projects.limits.retrieve(other.id),
    () => scoped.apiKeys.retrieve(foreign.id),
    () => scoped.apiKeys.update(foreign.id, { name: 'x' }),
    () => scoped.apiKeys.delete(foreign.id),
    () => scoped.apiKeys.rotate(foreign.id),
    () => scoped.apiKeys.create({ name: 'x', project_id: other.id }),
  ]) {
    await assert.rejects(attempt, { status: 404 })
  }
  for (const attempt of [
    () => scoped.projects.create({ name: 'x' }),
    () => scoped.projects.delete(own.id),
    () => scoped.projects.update(own.id, { status: 'archived' }),
    () => scoped.projects.limits.update(own.id, { max_concurrent_sessions: 1 }),
    () => scoped.organization.limits.update({ default_project_max_concurrent_sessions: 1 }),
    () => scoped.apiKeys.create({ name: 'x', project_id: null }),
  ]) {
    await assert.rejects(attempt, { status: 403 })
  }
  const sibling = await scoped.apiKeys.create({ name: 'sibling' })
  assert.equal(sibling.project_id, own.id, 'its keys are of its project')
  assert.equal(sibling.project_name, 'mine')
  await organization.projects.update(own.id, { status: 'archived' })
  await assert.rejects(scoped.projects.list(), { status: 404 })
})
