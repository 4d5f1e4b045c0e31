// Who the caller is, what the organisation may do, and what it has in use.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AuthContext } from '@berth/contracts/auth-context'
import type { Entitlements } from '@berth/contracts/entitlements'
import type { OrganizationLimits } from '@berth/contracts/organization'
import { Entitlements as EntitlementsSchema } from '@berth/contracts/entitlements'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { send as sendTo } from '../fixtures/sessions.ts'

const server = await startServer(
  { after },
  { env: { BERTH_HEALTH_CHECK_MIN_SECONDS: '7200', BERTH_MAX_CONCURRENT_SESSIONS: '5' } },
)
const admin = client84(server)
const project = await admin.projects.create({ name: 'Έργο with a name' })
const projectKey = await admin.apiKeys.create({ name: 'of the project', project_id: project.id })

const ask = <Body>(path: string, { key = server.key, headers }: Asked = {}) =>
  sendTo<Body>(server, 'GET', path, undefined, { authorization: `Bearer ${key}`, ...headers })

interface Asked {
  readonly key?: string
  readonly headers?: Record<string, string>
}

const send = (method: string, path: string, body: object, key = server.key) =>
  sendTo<{ id: string }>(server, method, path, body, { authorization: `Bearer ${key}` })

const contextOf = (id: string, most: string | null, effective: string | null): AuthContext => ({
  authentication: { method: 'api_key', source: 'api_key', credential_id: id },
  principal: { type: 'api_key', id },
  organization: { id: 'org' },
  authorization: {
    credential_scope: { project_id: most },
    effective_scope: { project_id: effective },
    scopes: null,
  },
})

const utf8 = (text: string) => Buffer.from(text).toString('latin1')

test('GET /auth/context says what the MCP server checks, for every way to choose a project', async () => {
  const [first] = await Array.fromAsync(admin.apiKeys.list({ query: 'First key' }))
  const organization = first!.id
  assert.deepEqual((await ask('/auth/context')).body, contextOf(organization, null, null))
  for (const headers of [
    { 'x-kernel-project-id': project.id },
    { 'x-kernel-project': project.id },
    { 'x-kernel-project': utf8(project.name) },
    { 'x-kernel-project-id': project.id, 'x-kernel-project': utf8(project.name) },
  ]) {
    const { body } = await ask('/auth/context', { headers })
    assert.deepEqual(body, contextOf(organization, null, project.id), JSON.stringify(headers))
    const own = await ask('/auth/context', { headers, key: projectKey.key })
    assert.deepEqual(own.body, contextOf(projectKey.id, project.id, project.id))
  }
  const own = await ask('/auth/context', { key: projectKey.key })
  assert.deepEqual(own.body, contextOf(projectKey.id, project.id, project.id))
})

test('GET /auth/context tells apart no key, a wrong project and a foreign one, and sees a deleted key at once', async () => {
  const refusal = async (options: Asked) => {
    const { status, body } = await ask<{ code: string }>('/auth/context', options)
    return `${status} ${body.code}`
  }
  assert.equal(await refusal({ key: 'sk_nobody' }), '401 unauthorized')
  const nowhere = { 'x-kernel-project': 'nowhere' }
  assert.equal(await refusal({ headers: nowhere }), '404 project_not_found')
  assert.equal(await refusal({ headers: nowhere, key: projectKey.key }), '403 forbidden')
  const other = await admin.projects.create({ name: 'other' })
  const two = { 'x-kernel-project-id': project.id, 'x-kernel-project': 'other' }
  assert.equal(await refusal({ headers: two }), '400 bad_request')
  await admin.projects.delete(other.id)
  const short = await admin.apiKeys.create({ name: 'short' })
  assert.equal((await ask('/auth/context', { key: short.key })).status, 200)
  await admin.apiKeys.delete(short.id)
  assert.equal(await refusal({ key: short.key }), '401 unauthorized')
})

test('GET /org/entitlements names every feature, and enables what is built and set up', async () => {
  const { status, body } = await ask<Entitlements>('/org/entitlements')
  assert.equal(status, 200)
  const { features, plan, limits } = body
  assert.deepEqual(
    Object.keys(features).toSorted(),
    Object.keys(EntitlementsSchema.properties.features.properties).toSorted(),
  )
  assert.deepEqual(plan, {
    id: 'ENTERPRISE',
    effective_id: 'ENTERPRISE',
    is_trialing: false,
    status: 'ACTIVE',
    trial_ends_at: null,
  })
  const disabled = Object.entries(features).filter(([, { enabled }]) => !enabled)
  assert.deepEqual(
    disabled.map(([name]) => name),
    ['gpu', 'managed_proxies', 'vaults'],
  )
  assert.deepEqual(features.managed_auth, {
    enabled: true,
    max_connections: null,
    health_check_interval_min_seconds: 7200,
    health_check_interval_default_seconds: 7200,
    health_check_interval_max_seconds: 86_400,
  })
  assert.deepEqual(limits, {
    max_concurrent_browsers: 5,
    max_concurrent_invocations: 100,
    default_max_concurrent_invocations_per_app: 100,
  })
})

test('GET /org/limits counts what is in use; a project key sees its own project', async () => {
  const limits = async (key?: string) => {
    const { body } = await ask<OrganizationLimits>('/org/limits', key === undefined ? {} : { key })
    const { concurrent_sessions_used: used, concurrent_sessions_available: available } = body
    return [used, available, body.auth_connections_used]
  }
  assert.deepEqual(await limits(), [0, 5, 0])
  const { session_id } = await admin.browsers.create({ headless: true })
  const connection = await send('POST', '/auth/connections', { domain: 'a.example', profile_name: 'a' })
  assert.equal(connection.status, 201)
  assert.deepEqual(await limits(), [1, 4, 1])
  assert.deepEqual(await limits(projectKey.key), [0, 4, 0])
  await admin.projects.limits.update(project.id, { max_concurrent_sessions: 2 })
  assert.deepEqual(await limits(projectKey.key), [0, 2, 0])
  const pool = await send(
    'POST',
    '/browser_pools',
    { size: 2, headless: true, fill_rate_per_minute: 0 },
    projectKey.key,
  )
  assert.equal(pool.status, 201)
  assert.deepEqual(await limits(projectKey.key), [2, 0, 0])
  assert.deepEqual(await limits(), [3, 2, 1])
  await admin.browsers.deleteByID(session_id)
  assert.deepEqual(await limits(), [2, 3, 1])
  const { body } = await ask<OrganizationLimits>('/org/limits')
  assert.equal(body.min_health_check_interval_seconds, 7200)
  assert.deepEqual([body.max_auth_connections, body.vaults_used, body.max_vaults], [null, 0, 0])
})

test('new project names fit into paths; a project that has such a name keeps it', async () => {
  for (const name of ['a/b', '100%', '/']) {
    const made = await send('POST', '/org/projects', { name })
    assert.equal(made.status, 400)
    assert.match(made.body.message!, /name: must not contain \/ or %/)
    const renamed = await send('PATCH', `/org/projects/${project.id}`, { name })
    assert.equal(renamed.status, 400)
    const both = await send('PATCH', `/org/projects/${project.id}`, { name, status: 'active' })
    assert.equal(both.status, 400)
  }
})

test('every path of projects takes an id or a name', async () => {
  for (const reference of [project.id, project.name]) {
    const base = `/org/projects/${encodeURIComponent(reference)}`
    for (const path of [base, `${base}/limits`, `${base}/storage`]) {
      assert.equal((await ask(path)).status, 200, path)
    }
    assert.equal((await send('PATCH', base, {})).body.id, project.id)
    assert.equal((await send('PATCH', `${base}/limits`, {})).status, 200)
  }
  const doomed = await admin.projects.create({ name: 'to be deleted' })
  assert.equal((await server.fetch('/org/projects/to%20be%20deleted', { method: 'DELETE' })).status, 204)
  assert.equal((await ask(`/org/projects/${doomed.id}`)).status, 404)
})
