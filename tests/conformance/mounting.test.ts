// The server serves exactly the table of operations.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pathsOf } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { sharedServer } from '../fixtures/shared-server.ts'
import { assertError } from './error-answer.ts'
import { HttpCaller } from './http-exchange.ts'
import { absentResources } from './resources.ts'
import { fillPath, sampleRequest } from './sample-request.ts'

const owner = { after }
const server = await sharedServer(owner)
const caller = new HttpCaller(owner, server.url)

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']
const references = { projects: 'absent', api_keys: 'absent', ...absentResources }
const rows = operations.flatMap((operation) => pathsOf(operation).map((path) => ({ operation, path })))
const byPath = Map.groupBy(rows, ({ path }) => path)

test('no operation, and no method of a path, is in the table twice', () => {
  const ids = operations.map(({ id }) => id)
  assert.deepEqual(ids, [...new Set(ids)])
  const routes = rows.map(({ operation, path }) => `${operation.method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
  assert.deepEqual(routes, [...new Set(routes)])
})

for (const { operation, path } of rows) {
  test(`${operation.method} ${path} is mounted`, async () => {
    // Without a key a route answers 401, its success if it is open, or that the code is wrong.
    const answer = await caller.send(sampleRequest(operation, path, references))
    const expected = { none: operation.status, handoff: 404 }[operation.auth as string] ?? 401
    assert.equal(answer.status, expected, answer.text)
    assert.doesNotMatch(answer.text, /Cannot find (GET|POST|PUT|PATCH|DELETE) /)
  })
}

/** A fixed path may also match one with an id. */
const alsoMatching = (path: string) =>
  rows.filter((row) => new RegExp(`^${row.path.replaceAll(/\{\w+\}/g, '[^/{]+')}$`).test(path))

for (const [path, served] of byPath) {
  test(`${path} answers 405 to methods outside the table, and lists the allowed ones`, async () => {
    const allowed = [
      ...new Set([...served, ...alsoMatching(path)].map(({ operation }) => operation.method as string)),
    ].toSorted()
    for (const method of METHODS.filter((name) => !allowed.includes(name))) {
      for (const key of [undefined, server.key]) {
        const exchange = { method, path: fillPath(path, references) }
        const answer = await (key ? caller.sendAs(key, exchange) : caller.send(exchange))
        assert.equal(answer.status, 405, `${method}: ${answer.text}`)
        assert.deepEqual(answer.headers.allow?.split(', ').toSorted(), allowed, `Allow of ${method}`)
        if (method !== 'HEAD') assertError(answer, 'method_not_allowed', method)
      }
    }
  })
}

const neighbours = rows.flatMap(({ path }) => {
  const filled = fillPath(path, references)
  return [
    `${filled}/x`,
    `/x${filled}`,
    `/v1${filled}`,
    filled.toUpperCase(),
    `${filled}.json`,
    `/${filled}`,
    `${filled};x`,
  ]
})
const usual = [
  '/org',
  '/admin',
  '/json/version',
  '/json',
  '/debug/pprof',
  '/.env',
  '/favicon.ico',
  '/graphql',
  '/*',
  '/:id',
]

test('no path outside the table answers', async () => {
  const known = [...byPath.keys()].map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`))
  const unknown = [...neighbours, ...usual].filter((path) => !known.some((pattern) => pattern.test(path)))
  assert.ok(unknown.length > 100)
  for (const path of unknown) {
    for (const method of ['GET', 'POST']) {
      assertError(await caller.sendAs(server.key, { method, path }), 'not_found', `${method} ${path}`)
    }
  }
})

test('the pages of the dashboard are not in the table, and are only read', async () => {
  for (const path of ['/', '/dashboard', '/dashboard/sessions/x']) {
    const answer = await caller.sendAs(server.key, { method: 'GET', path })
    assert.equal(answer.status, path === '/' ? 302 : 200, path)
    assertError(await caller.sendAs(server.key, { method: 'POST', path }), 'method_not_allowed', path)
  }
})

test('a trailing slash makes no difference', async () => {
  const answer = await caller.sendAs(server.key, { method: 'GET', path: '/org/projects/' })
  assert.equal(answer.status, 200, answer.text)
})
