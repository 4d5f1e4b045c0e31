// Scopes: every row of the contract, on each of its paths, with a key that has every scope but the one it needs, and
// with a key that has only that one.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AuditLogEntry } from '@berth/contracts/audit-logs'
import type { Browser } from '@berth/contracts/browsers'
import { isOpen, pathsOf } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { expandScopes, scopes, type OperationScope, type Scope } from '@berth/contracts/scopes'
import { sharedServer } from '../fixtures/shared-server.ts'
import { assertError } from './error-answer.ts'
import { newKey, type IssuedKey } from './fixture-keys.ts'
import { HttpCaller, type Exchange } from './http-exchange.ts'
import { absentResources, newBrowser, newResources } from './resources.ts'
import { fillPath, sampleRequest } from './sample-request.ts'
import { ServerDatabase } from './server-database.ts'

const owner = { after }
const server = await sharedServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const spare = await newKey(caller, server.key, { name: 'worked on' })
const references = {
  projects: 'absent',
  api_keys: spare.id,
  ...(await newResources(caller, server.key)),
}
const absent = { projects: 'absent', api_keys: 'absent', ...absentResources }

async function stateWithoutKeys(): Promise<Record<string, string[]>> {
  const { api_keys: _keys, ...state } = await database.state()
  return state
}
const before = await stateWithoutKeys()

const guarded = operations.filter((operation) => !isOpen(operation) && !operation.needsNoScope)
const single = scopes.filter((scope) => scope !== 'read')

const keys = new Map<string, IssuedKey>()
async function keyWith(granted: readonly Scope[]): Promise<string> {
  const name = granted.join(' ')
  const known = keys.get(name)
  if (known) return known.key
  const made = await newKey(caller, server.key, { name: 'scoped', scopes: [...granted] })
  assert.deepEqual(made.scopes, granted)
  keys.set(name, made)
  return made.key
}

/** Everything that does not include it. */
const allBut = (scope: OperationScope) => single.filter((each) => !expandScopes([each]).has(scope))

test('every operation with a key needs one scope, and every scope is needed', () => {
  for (const { id, scope } of guarded) assert.ok(scope !== null && scopes.includes(scope), id)
  assert.deepEqual(single.toSorted(), [...new Set(guarded.map(({ scope }) => scope!))].toSorted())
})

/** Other spellings of the path that the router treats as the same. */
function spellings(path: string): string[] {
  const [place = '', query] = path.split('?')
  const rest = query === undefined ? '' : `?${query}`
  const encoded = place.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  return [path, `${place}/${rest}`, encoded + rest]
}

for (const operation of guarded) {
  const scope = operation.scope!
  for (const path of pathsOf(operation)) {
    test(`${operation.method} ${path} needs ${scope}`, async () => {
      const exchange = sampleRequest(operation, path, references)
      const without = await keyWith(allBut(scope))
      for (const spelling of spellings(exchange.path)) {
        const answer = await caller.sendAs(without, { ...exchange, path: spelling })
        const { message } = assertError(answer, 'forbidden', spelling)
        assert.ok(message.includes(`"${scope}"`), message)
      }
      if (scope.endsWith(':write')) {
        assertError(await caller.sendAs(await keyWith(['read']), exchange), 'forbidden', 'a key that reads')
      }
      // Without what it needs to have an effect: only the refusal matters here.
      const asked: Exchange = {
        method: operation.method,
        path: fillPath(path, absent),
        ...(operation.body && { headers: [['Content-Type', 'application/json']] as const, body: '{"x":' }),
      }
      for (const granted of [scope, ...(scope.endsWith(':read') ? (['read'] as const) : [])]) {
        const { status, text } = await caller.sendAs(await keyWith([granted]), asked)
        assert.ok(status !== 401 && status !== 403, `${granted}: ${status} ${text}`)
      }
    })
  }
}

test('none of these requests changed anything', async () => {
  assert.deepEqual(await stateWithoutKeys(), before)
})

test('a key with any scope learns who it is', async () => {
  for (const scope of single) {
    const { status, text } = await caller.sendJson(await keyWith([scope]), 'GET', '/auth/context')
    assert.equal(status, 200, `${scope}: ${text}`)
  }
})

test('a key that only reads gets no link to control a session', async () => {
  const id = await newBrowser(caller, server.key, { headless: false })
  const reader = await keyWith(['read'])
  for (const path of [`/browsers/${id}`, '/browsers?limit=100']) {
    const answer = await caller.sendJson(reader, 'GET', path)
    const shown = [answer.json as Browser | Browser[]].flat().find((each) => each.session_id === id)!
    assert.equal(shown.cdp_ws_url, '')
    assert.doesNotMatch(answer.text, /jwt=/)
  }
  const full = await caller.sendJson(await keyWith(['browsers:write']), 'GET', `/browsers/${id}`)
  assert.match((full.json as Browser).cdp_ws_url, /jwt=/)
  await caller.sendJson(server.key, 'DELETE', `/browsers/${id}`)
})

test('a key that only reads gets no link to act in a login', async () => {
  const body = { domain: 'slow.example', profile_name: 'seen-by-a-reader' }
  const made = await caller.sendJson(server.key, 'POST', '/auth/connections', body)
  const { id } = made.json as { id: string }
  assert.equal((await caller.sendJson(server.key, 'POST', `/auth/connections/${id}/login`, {})).status, 200)
  const linksOf = async (key: string) => {
    const answer = await caller.sendJson(key, 'GET', `/auth/connections/${id}`)
    const { hosted_url, live_view_url } = answer.json as Record<string, string | null>
    return { hosted_url, live_view_url }
  }
  const none = { hosted_url: null, live_view_url: null }
  assert.match((await linksOf(server.key)).hosted_url!, /#code=/)
  assert.deepEqual(await linksOf(await keyWith(['logins:read'])), none)
  const followed = await caller.sendJson(await keyWith(['read']), 'GET', `/auth/connections/${id}/events`)
  assert.doesNotMatch(followed.text, /hosted_url|live_view_url/)
  assert.equal((await caller.sendJson(server.key, 'DELETE', `/auth/connections/${id}`)).status, 204)
})

test('the audit log says which scope a request needed, even if it was refused because of it', async () => {
  const key = await newKey(caller, server.key, { name: 'audited', scopes: ['profiles:read'] })
  const refused = await caller.sendJson(key.key, 'POST', '/profiles', { name: 'never-made' })
  assertError(refused, 'forbidden')
  assert.equal((await caller.sendJson(key.key, 'GET', '/profiles')).status, 200)
  const now = Date.now()
  const range = `start=${new Date(now - 60_000).toISOString()}&end=${new Date(now + 60_000).toISOString()}`
  const log = await caller.sendJson(server.key, 'GET', `/audit-logs?${range}&search=/profiles`)
  const entries = (log.json as AuditLogEntry[]).filter(({ path }) => path === '/profiles').slice(0, 2)
  assert.deepEqual(
    entries.map(({ method, status, scope }) => ({ method, status, scope })),
    [
      { method: 'GET', status: 200, scope: 'profiles:read' },
      { method: 'POST', status: 403, scope: 'profiles:write' },
    ],
  )
})

test('a scope that does not exist is refused, and so is an empty list', async () => {
  for (const wanted of [[], ['browsers'], ['browsers:admin'], ['write'], ['*'], ['read', 'read'], 'read']) {
    const body = { name: 'x', scopes: wanted }
    const answer = await caller.sendJson(server.key, 'POST', '/org/api_keys', body)
    assert.match(assertError(answer, 'bad_request', JSON.stringify(wanted)).message, /scopes/)
  }
})
