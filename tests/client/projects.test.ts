// Every method of `projects` and `projects.limits`, in each version of the published client.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startServer } from '../fixtures/server.ts'
import { client55, client70, client84 } from './versions.ts'

const fileOwner = { after }
const shared = await startServer(fileOwner)
const versions = { '0.55.0': client55, '0.70.0': client70, '0.84.0': client84 }

for (const [version, newClient] of Object.entries(versions)) {
  describe(`client ${version}`, () => {
    test('creates, reads, renames, archives, restores and deletes a project', async () => {
      const { projects } = newClient(shared)
      const created = await projects.create({ name: `staging ${version}` })
      assert.match(created.id, /^proj_[a-z0-9]{24}$/)
      assert.equal(created.status, 'active')
      assert.equal(new Date(created.created_at).toISOString(), created.created_at)
      assert.deepEqual(await projects.retrieve(created.id), created)

      const renamed = await projects.update(created.id, { name: `production ✓ ${version}` })
      assert.equal(renamed.name, `production ✓ ${version}`)
      assert.ok(renamed.updated_at >= created.updated_at)
      assert.deepEqual(await projects.retrieve(`production ✓ ${version}`), renamed, 'a name finds it too')

      assert.equal((await projects.update(created.id, { status: 'archived' })).status, 'archived')
      assert.equal((await projects.update(created.id, { status: 'active' })).status, 'active')
      assert.equal(await projects.delete(created.id), null)
      await assert.rejects(projects.retrieve(created.id), { status: 404 })
    })

    test('pages a list to its end, whatever the page size', async () => {
      const { projects } = newClient(shared)
      for (let index = 0; index < 11; index++) await projects.create({ name: `${version} project ${index}` })
      const names = (await projects.list({ limit: 100 })).getPaginatedItems().map((project) => project.name)
      assert.ok(names.length >= 12 && names.length < 100)
      assert.equal(names[0], `${version} project 10`, 'newest first')
      assert.equal(names.at(-1), 'Default')
      for (const limit of [1, 3, 4, names.length, 100]) {
        const all = await Array.fromAsync(projects.list({ limit }))
        assert.deepEqual(
          all.map((project) => project.name),
          names,
          `limit ${limit}`,
        )
      }
      assert.equal((await projects.list()).getPaginatedItems().length, Math.min(20, names.length))
      const tail = await Array.fromAsync(projects.list({ limit: 2, offset: 9 }))
      assert.deepEqual(
        tail.map((project) => project.name),
        names.slice(9),
      )
    })

    test('filters a list by part of a name', async () => {
      const { projects } = newClient(shared)
      for (const name of ['Alpha', 'alphabet', 'ALPHA 2', '100_', '100 percent']) {
        await projects.create({ name: `${name} ${version}` })
      }
      const found = async (query: string) =>
        (await Array.fromAsync(projects.list({ query, limit: 1 })))
          .filter((project) => project.name.endsWith(version))
          .map((project) => project.name.slice(0, -version.length - 1))
          .toSorted()
      assert.deepEqual(await found('alpha'), ['ALPHA 2', 'Alpha', 'alphabet'])
      assert.deepEqual(await found('0_'), ['100_'], 'an underscore means itself')
      assert.deepEqual(await found('0%'), [], 'a percent sign, too')
      assert.deepEqual(await found('l_mited'), [])
    })

    test('reads and changes limits: 0 removes a cap, omitted fields stay', async () => {
      const { projects } = newClient(shared)
      const { id } = await projects.create({ name: `limited ${version}` })
      const none = {
        max_concurrent_sessions: null,
        max_concurrent_invocations: null,
        max_pooled_sessions: null,
        max_storage_bytes: null,
      }
      assert.deepEqual(await projects.limits.retrieve(id), none)
      assert.deepEqual(
        await projects.limits.update(id, { max_concurrent_sessions: 5, max_pooled_sessions: 2 }),
        {
          ...none,
          max_concurrent_sessions: 5,
          max_pooled_sessions: 2,
        },
      )
      assert.deepEqual(await projects.limits.update(id, { max_concurrent_sessions: 0 }), {
        ...none,
        max_pooled_sessions: 2,
      })
      assert.deepEqual(await projects.limits.update(id, {}), { ...none, max_pooled_sessions: 2 })
      await assert.rejects(projects.limits.update(id, { max_concurrent_sessions: -1 }), { status: 400 })
      await assert.rejects(projects.limits.retrieve('nobody'), { status: 404 })
    })

    test('gets a conflict once, without retries', async () => {
      let requests = 0
      const counted: typeof fetch = (...args) => {
        requests++
        return fetch(...args)
      }
      const { projects } = newClient(shared, { fetch: counted })
      await projects.create({ name: `taken ${version}` })
      await assert.rejects(
        projects.create({ name: `taken ${version}` }),
        (error: Error & { status?: number }) => {
          assert.equal(error.status, 409)
          assert.match(error.message, /another project has it/)
          return true
        },
      )
      assert.equal(requests, 2)
    })
  })
}

function hasCode(status: number, code: string) {
  return (error: { status?: number; error?: { code?: string } }) => {
    assert.equal(error.status, status)
    assert.equal(error.error?.code, code)
    return true
  }
}

test('the exact name filter of newer clients matches only the whole name', async () => {
  const { projects } = client84(shared)
  for (const name of ['Exact', 'exact', 'Exact 2']) await projects.create({ name })
  const found = await Array.fromAsync(projects.list({ name: 'Exact' }))
  assert.deepEqual(
    found.map((project) => project.name),
    ['Exact'],
  )
})

test('the organisation keeps one active project, and a project with keys cannot be deleted', async (t) => {
  const client = client84(await startServer(t))
  const [original] = (await client.projects.list()).getPaginatedItems()
  assert.ok(original)
  for (const attempt of [
    () => client.projects.delete(original.id),
    () => client.projects.update(original.id, { status: 'archived' }),
  ]) {
    await assert.rejects(attempt, hasCode(409, 'last_active_project'))
  }

  const other = await client.projects.create({ name: 'other' })
  const key = await client.apiKeys.create({ name: 'k', project_id: other.id })
  await assert.rejects(client.projects.delete(other.id), (error: { status: number; message: string }) => {
    assert.equal(error.status, 409)
    assert.match(error.message, /it has 1 API keys; delete them first/)
    return true
  })
  await client.apiKeys.delete(key.id)
  await client.projects.delete(other.id)
  assert.equal(await client.projects.delete(other.id), null, 'a repeated delete is success')
})

test('organisation limits are read, and their project default is set and cleared', async (t) => {
  const server = await startServer(t, { env: { BERTH_MAX_CONCURRENT_SESSIONS: '50' } })
  for (const client of [client70(server), client84(server)]) {
    const { limits } = client.organization
    assert.equal((await limits.retrieve()).max_concurrent_sessions, 50)
    const changed = await limits.update({ default_project_max_concurrent_sessions: 7 })
    assert.equal(changed.default_project_max_concurrent_sessions, 7)
    assert.equal((await limits.update({})).default_project_max_concurrent_sessions, 7)
    assert.equal(
      (await limits.update({ default_project_max_concurrent_sessions: 0 }))
        .default_project_max_concurrent_sessions,
      null,
    )
    await assert.rejects(limits.update({ default_project_max_concurrent_sessions: 51 }), (error: Error) => {
      assert.match(error.message, /default_project_max_concurrent_sessions: must be at most 50/)
      return true
    })
  }
})
