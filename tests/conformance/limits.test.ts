// Limits: a number sets one, 0 and null remove it, and an omitted one is unchanged.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ProjectLimits } from '@berth/contracts/projects'
import { startServer } from '../fixtures/server.ts'
import { assertError } from './error-answer.ts'
import { newProject } from './fixture-keys.ts'
import { HttpCaller } from './http-exchange.ts'

const owner = { after }
const server = await startServer(owner, { env: { BERTH_MAX_CONCURRENT_SESSIONS: '40' } })
const caller = new HttpCaller(owner, server.url)
const project = await newProject(caller, server.key, 'Limited')
const other = await newProject(caller, server.key, 'Not limited')
const path = `/org/projects/${project.id}/limits`
const none: ProjectLimits = {
  max_concurrent_sessions: null,
  max_concurrent_invocations: null,
  max_pooled_sessions: null,
  max_storage_bytes: null,
}

async function change(at: string, body?: object): Promise<unknown> {
  const answer = await caller.sendJson(server.key, 'PATCH', at, body)
  assert.equal(answer.status, 200, answer.text)
  const read = await caller.sendJson(server.key, 'GET', at)
  assert.deepEqual(read.json, answer.json)
  return answer.json
}

test('a project starts without limits', async () => {
  assert.deepEqual((await caller.sendJson(server.key, 'GET', path)).json, none)
})

test('each limit of a project is set, kept and removed independently', async () => {
  for (const name of Object.keys(none) as (keyof ProjectLimits)[]) {
    const all: ProjectLimits = {
      max_concurrent_sessions: 1,
      max_concurrent_invocations: 2,
      max_pooled_sessions: 3,
      max_storage_bytes: 4,
    }
    assert.deepEqual(await change(path, all), all)
    assert.deepEqual(await change(path, { [name]: 7 }), { ...all, [name]: 7 })
    assert.deepEqual(await change(path, {}), { ...all, [name]: 7 })
    assert.deepEqual(await change(path), { ...all, [name]: 7 })
    assert.deepEqual(await change(path, { [name]: 0 }), { ...all, [name]: null })
    assert.deepEqual(await change(path, { [name]: 1_000_000 }), { ...all, [name]: 1_000_000 })
    assert.deepEqual(await change(path, { [name]: null }), { ...all, [name]: null })
    assert.deepEqual(await change(path, { [name]: 0 }), { ...all, [name]: null })
  }
})

test('the limits of one project do not apply to another', async () => {
  await change(path, { max_concurrent_sessions: 5 })
  assert.deepEqual((await caller.sendJson(server.key, 'GET', `/projects/${other.id}/limits`)).json, none)
})

test('a refused change changes nothing', async () => {
  const before = await change(path, { max_concurrent_sessions: 5, max_pooled_sessions: 5 })
  for (const value of [-1, 1.5, 1_000_001, '1', true]) {
    const body = { max_concurrent_sessions: 9, max_pooled_sessions: value }
    assertError(await caller.sendJson(server.key, 'PATCH', path, body), 'bad_request', String(value))
  }
  assert.deepEqual((await caller.sendJson(server.key, 'GET', path)).json, before)
})

test('the default cap of the organisation is set, kept, removed, and never above its limit', async () => {
  const field = 'default_project_max_concurrent_sessions'
  const cap = async (body?: object) => ((await change('/org/limits', body)) as Record<string, unknown>)[field]
  assert.equal(await cap({}), null)
  assert.equal(await cap({ [field]: 40 }), 40)
  assert.equal(await cap({}), 40)
  assert.equal(await cap(), 40)
  assertError(await caller.sendJson(server.key, 'PATCH', '/org/limits', { [field]: 41 }), 'bad_request')
  assert.equal(await cap({}), 40)
  assert.equal(await cap({ [field]: 0 }), null)
  assert.equal(await cap({ [field]: 1 }), 1)
  assert.equal(await cap({ [field]: null }), null)
})

test('the limits of the operator are shown, and cannot be changed', async () => {
  const { json } = await caller.sendJson(server.key, 'GET', '/org/limits')
  assert.equal((json as Record<string, unknown>)['max_concurrent_sessions'], 40)
  for (const field of ['max_concurrent_sessions', 'max_concurrent_invocations', 'max_pooled_sessions']) {
    const answer = await caller.sendJson(server.key, 'PATCH', '/org/limits', { [field]: 1 })
    assert.equal(answer.headers['x-berth-ignored'], field)
    assert.deepEqual(answer.json, json)
  }
})
