// Keys that make keys: nothing they make or change is wider, longer-lived or more powerful than they are.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiKey } from '@berth/contracts/api-keys'
import { operations } from '@berth/contracts/operations'
import { scopes, scopesBeyond, type Scope } from '@berth/contracts/scopes'
import { sharedServer } from '../fixtures/shared-server.ts'
import { assertError } from './error-answer.ts'
import { newKey, newProject, newTenant, type IssuedKey } from './fixture-keys.ts'
import { HttpCaller } from './http-exchange.ts'
import { absentResources, newApp } from './resources.ts'
import { sampleRequest } from './sample-request.ts'
import { ServerDatabase } from './server-database.ts'

const owner = { after }
const server = await sharedServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const project = await newProject(caller, server.key, 'Of keys that make keys')

const make = (maker: IssuedKey | string, body: object = {}) =>
  newKey(caller, typeof maker === 'string' ? maker : maker.key, { name: 'minted', ...body })

async function rotate(by: string, { id }: ApiKey, body: object = {}): Promise<IssuedKey> {
  const answer = await caller.sendJson(by, 'POST', `/org/api_keys/${id}/rotate`, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.json as IssuedKey
}

async function get({ id }: ApiKey): Promise<ApiKey> {
  const answer = await caller.sendJson(server.key, 'GET', `/org/api_keys/${id}?include_deleted=true`)
  return answer.json as ApiKey
}

async function works({ key }: IssuedKey): Promise<boolean> {
  const { status } = await caller.sendJson(key, 'GET', '/org/projects')
  assert.ok(status === 200 || status === 401, String(status))
  return status === 200
}

async function remove({ id }: ApiKey): Promise<void> {
  assert.equal((await caller.sendJson(server.key, 'DELETE', `/org/api_keys/${id}`)).status, 204)
}

test('no chain of keys outlives the key at its beginning', async () => {
  const first = await make(server.key, { days_to_expire: 1 })
  const end = first.expires_at
  assert.ok(end)
  for (const body of [{}, { days_to_expire: null }, { days_to_expire: 1 }, { days_to_expire: 3650 }]) {
    const child = await make(first, body)
    assert.equal(child.expires_at, end, JSON.stringify(body))
    assert.equal((await make(child, body)).expires_at, end)
  }
})

test('a key gains no time by a rotation, neither of itself nor of a key that it made', async () => {
  const first = await make(server.key, { days_to_expire: 10 })
  const child = await make(first)
  for (const [by, old] of [
    [first, child],
    [child, child],
    [first, first],
  ] as const) {
    const successor = await rotate(by.key, old, { days_to_expire: 3650 })
    assert.ok(Date.parse(successor.expires_at!) <= Date.parse(first.expires_at!))
  }
  // A key that expires later may give more time.
  const renewed = await rotate(server.key, await make(server.key, { days_to_expire: 10 }))
  assert.ok(Date.parse(renewed.expires_at!) > Date.parse(first.expires_at!))
})

test('a key cannot pass on a scope that it does not have', async () => {
  for (const scope of scopes) {
    const own: Scope[] = [...new Set<Scope>([scope, 'api_keys:write'])]
    const maker = await make(server.key, { scopes: own })
    assert.deepEqual((await make(maker)).scopes, own, 'as the maker, unless it says otherwise')
    assert.deepEqual((await make(maker, { scopes: ['api_keys:read'] })).scopes, ['api_keys:read'])
    // The neighbours in the list, among them its own `write`; scopes.test.ts beside the contract has every pair.
    for (const wanted of around(scope).filter((each) => scopesBeyond([each], own).length > 0)) {
      const body = { name: 'wider', scopes: ['api_keys:read', wanted] }
      const answer = await caller.sendJson(maker.key, 'POST', '/org/api_keys', body)
      assert.match(assertError(answer, 'forbidden', `${scope} → ${wanted}`).message, new RegExp(wanted))
    }
    assert.deepEqual((await rotate(maker.key, maker)).scopes, own)
  }
})

const around = (scope: Scope) => [...scopes, ...scopes].slice(scopes.indexOf(scope) + 1).slice(0, 3)

const stronger: [what: string, target: () => Promise<IssuedKey>, weaker: object][] = [
  ['without scopes', () => make(server.key), { scopes: ['api_keys:write', 'browsers:write'] }],
  [
    'with another scope',
    () => make(server.key, { scopes: ['profiles:read'] }),
    { scopes: ['api_keys:write', 'browsers:write'] },
  ],
  ['that never expires', () => make(server.key), { days_to_expire: 5 }],
  ['that expires later', () => make(server.key, { days_to_expire: 6 }), { days_to_expire: 5 }],
  [
    'that expires later, of the same project',
    () => make(server.key, { days_to_expire: 6, project_id: project.id }),
    { days_to_expire: 5, project_id: project.id },
  ],
]

async function assertOutOfReach(by: IssuedKey, target: IssuedKey): Promise<void> {
  const path = `/org/api_keys/${target.id}`
  const before = await get(target)
  for (const [method, at, body] of [
    ['DELETE', path],
    ['PATCH', path, { name: 'taken over' }],
    ['POST', `${path}/rotate`, { expire_in_days: 0 }],
  ] as const) {
    assertError(await caller.sendJson(by.key, method, at, body), 'forbidden', `${method} ${at}`)
  }
  assert.deepEqual(await get(target), before)
  assert.ok(await works(target).catch(() => true))
}

for (const [what, newTarget, weaker] of stronger) {
  test(`a key cannot end, replace or rename a key ${what}`, async () => {
    await assertOutOfReach(await make(server.key, weaker), await newTarget())
  })
}

test('a key cannot end, replace or rename the key that made it, nor the one that made that one', async () => {
  const first = await make(server.key)
  const second = await make(first)
  const third = await make(second)
  for (const [by, target] of [
    [second, first],
    [third, second],
    [third, first],
  ] as const) {
    await assertOutOfReach(by, target)
  }
  // It may change keys that it made itself, and keys with the same power.
  assert.equal((await caller.sendJson(first.key, 'DELETE', `/org/api_keys/${third.id}`)).status, 204)
})

test('the keys that a key made end with it, however many generations', async () => {
  const first = await make(server.key, { days_to_expire: 5 })
  const generations = [first]
  for (let count = 0; count < 12; count++) generations.push(await make(generations.at(-1)!))
  const sibling = await make(server.key)
  for (const key of generations) assert.ok(await works(key))
  await remove(first)
  for (const key of generations) assert.ok(!(await works(key)))
  assert.ok((await get(generations.at(-1)!)).deleted_at)
  assert.ok(await works(sibling))
})

test('a successor takes over the keys that the old key made, and bounds their time', async () => {
  const first = await make(server.key)
  const child = await make(first)
  const grandchild = await make(child)
  const successor = await rotate(server.key, first, { days_to_expire: 8 })
  assert.equal((await get(child)).created_by_key_id, successor.id)
  assert.equal((await get(child)).expires_at, successor.expires_at)
  assert.equal((await get(grandchild)).expires_at, successor.expires_at)
  await remove(first)
  assert.ok((await works(child)) && (await works(grandchild)))
  await remove(successor)
  assert.ok(!(await works(child)) && !(await works(grandchild)))
})

test('if a key is deleted while it makes another, no key is left', async () => {
  for (let round = 0; round < 10; round++) {
    const maker = await make(server.key)
    const middle = await make(maker)
    const answers = await Promise.all([
      ...[maker, middle, middle].map((by) =>
        caller.sendJson(by.key, 'POST', '/org/api_keys', { name: `raced ${round}` }),
      ),
      remove(maker),
    ])
    for (const answer of answers) assert.ok(!answer || answer.status === 201 || answer.status === 401)
    const alive = `SELECT 1 FROM api_keys WHERE name = $1 AND deleted_at IS NULL`
    assert.deepEqual(await database.run(alive, [`raced ${round}`]), [])
  }
})

test('a project key does not learn the id of the organisation-wide key that made it', async () => {
  const tenant = await newTenant(caller, server.key, 'Made from above')
  const child = await make(tenant.key)
  const listed = await caller.sendJson(tenant.key.key, 'GET', '/org/api_keys')
  const makers = (listed.json as ApiKey[]).map(({ id, created_by_key_id }) => [id, created_by_key_id])
  assert.deepEqual(makers, [
    [child.id, tenant.key.id],
    [tenant.key.id, null],
  ])
})

test("an app's key makes and changes no keys, and has the limits of the key that deployed it", async () => {
  const limits = { scopes: ['apps:write', 'browsers:write', 'api_keys:write'], days_to_expire: 3 }
  const deployer = await make(server.key, { ...limits, project_id: project.id })
  const { deployments } = await newApp(caller, deployer.key)
  const rows = await database.run(
    `SELECT api_keys.* FROM api_keys JOIN deployments ON api_key_id = api_keys.id WHERE deployments.id = $1`,
    [deployments],
  )
  const { scopes: inherited, maker_id, expires_at } = rows[0] as Record<string, unknown>
  assert.deepEqual([inherited, maker_id], [deployer.scopes, deployer.id])
  assert.equal((expires_at as Date).getTime(), Date.parse(deployer.expires_at!))

  // Only the app knows the text of its key, so the test uses another one with the same limits.
  const app = await make(deployer)
  await database.run('UPDATE api_keys SET is_of_deployment = true WHERE id = $1', [app.id])
  const references = { api_keys: deployer.id, ...absentResources }
  const closed = operations.filter(({ closedToApps }) => closedToApps)
  assert.deepEqual(
    closed.map(({ id }) => id),
    ['createDeployment', 'createApiKey', 'deleteApiKey', 'rotateApiKey', 'updateApiKey', 'createSignIn'],
  )
  for (const operation of closed) {
    const answer = await caller.sendAs(app.key, sampleRequest(operation, operation.path, references))
    assert.match(assertError(answer, 'forbidden', operation.id).message, /app's deployment/)
  }
  assert.equal((await caller.sendJson(app.key, 'GET', '/browsers')).status, 200)

  await remove(deployer)
  assertError(await caller.sendJson(app.key, 'GET', '/browsers'), 'unauthorized')
  const [ended] = await database.run('SELECT deleted_at FROM api_keys WHERE id = $1', [rows[0]!['id']])
  assert.ok(ended!['deleted_at'])
})
