// The full key is shown once, to its creator, and is nowhere else afterwards.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { newKey, newProject, type IssuedKey } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { startServer } from '../fixtures/server.ts'
import { filesWith, holds } from './secret-search.ts'

const owner = { after }
const server = await startServer(owner, { hasOwnPostgres: true, env: { BERTH_LOG_LEVEL: 'debug' } })
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)

const project = await newProject(caller, server.key, 'Keeper')
const issued = [
  await newKey(caller, server.key, { name: 'organisation-wide' }),
  await newKey(caller, server.key, { name: 'of a project', project_id: project.id }),
  await newKey(caller, server.key, { name: 'expiring', days_to_expire: 30 }),
]
issued.push(await rotated(issued[2]!))
const secrets = [server.key, ...issued.map(({ key }) => key)]

async function rotated(old: IssuedKey): Promise<IssuedKey> {
  const answer = await caller.sendJson(server.key, 'POST', `/org/api_keys/${old.id}/rotate`, {})
  assert.equal(answer.status, 201, answer.text)
  return answer.json as IssuedKey
}

function assertNoSecret(text: string | Buffer, where: string): void {
  for (const [index, secret] of secrets.entries())
    assert.ok(!holds(text, secret), `key ${index} is in ${where}`)
}

/** Sends keys in wrong places, as happens by mistake; they must not be stored. */
async function carryKeysAstray(): Promise<void> {
  for (const secret of secrets) {
    const headers = [
      ['User-Agent', `agent ${secret}`],
      ['Referer', `http://localhost/?key=${secret}`],
      ['Cookie', `key=${secret}`],
      ['X-Kernel-Project', secret],
    ] as const
    await caller.sendAs(secret, {
      method: 'GET',
      path: `/org/projects/${secret}`,
      headers: headers.slice(0, 3),
    })
    await caller.sendAs(secret, { method: 'GET', path: `/org/limits?api_key=${secret}`, headers })
    await caller.sendAs(secret, { method: 'PUT', path: `/${secret}?${secret}` })
    await caller.sendAs(`${secret}x`, { method: 'GET', path: `/org/limits?api_key=${secret}` })
    await caller.sendAs(secret, { method: 'GET', path: `/audit-logs?search=${secret}` })
  }
}
await carryKeysAstray()

test('no later answer contains a key', async () => {
  const now = Date.now()
  const range = `start=${new Date(now - 600_000).toISOString()}&end=${new Date(now + 600_000).toISOString()}`
  const paths = [
    ...issued.map(({ id }) => `/org/api_keys/${id}`),
    '/org/api_keys?status=all&limit=100',
    '/org/api_keys?query=sk_',
    '/org/projects',
    '/org/limits',
    `/audit-logs?${range}`,
    `/audit-logs/export/chunk?${range}&format=jsonl`,
    '/metrics',
    '/openapi.json',
    '/docs',
    '/health',
  ]
  for (const path of paths) {
    const answer = await caller.sendJson(server.key, 'GET', path)
    assert.equal(answer.status, 200, answer.text)
    assertNoSecret(answer.text, path)
    assertNoSecret(JSON.stringify(answer.headers), `the headers of ${path}`)
  }
  const packed = await server.fetch(`/audit-logs/export/chunk?${range}`)
  assertNoSecret(gunzipSync(Buffer.from(await packed.arrayBuffer())), 'the packed export')
  for (const { id, name } of issued) {
    const answer = await caller.sendJson(server.key, 'PATCH', `/org/api_keys/${id}`, { name })
    assertNoSecret(answer.text, 'the answer to a rename')
  }
})

test('a key is masked to its first seven and last four characters everywhere', async () => {
  const listed = await caller.sendJson(server.key, 'GET', '/org/api_keys?status=all&limit=100')
  for (const { id, key, masked_key: masked } of issued) {
    assert.equal(masked, `${key.slice(0, 7)}...${key.slice(-4)}`)
    const one = await caller.sendJson(server.key, 'GET', `/org/api_keys/${id}`)
    const inList = (listed.json as IssuedKey[]).find((item) => item.id === id)
    for (const record of [one.json as IssuedKey, inList!]) {
      assert.equal(record.masked_key, masked)
      assert.equal(Object.hasOwn(record, 'key'), false)
    }
  }
})

test('no log line contains a key, and the first start prints the first key only in its place', () => {
  const lines = server.output().split('\n')
  const logged = lines.filter((line) => line.startsWith('{'))
  assert.ok(logged.length > 20)
  assertNoSecret(logged.join('\n'), 'the log')
  const shown = lines.filter((line) => holds(line, server.key)).map((line) => line.trim().split(' ')[0])
  assert.deepEqual(shown, ['Your', 'curl'])
})

test('no row of the database contains a key', async () => {
  const dump = await database.dump()
  assert.equal(dump['api_keys']!.length, secrets.length)
  for (const [table, rows] of Object.entries(dump)) assertNoSecret(rows.join('\n'), `table ${table}`)
})

test('no file of the data directory contains a key, except the first key in its own file', async () => {
  await database.run('CHECKPOINT')
  for (const [index, secret] of secrets.entries()) {
    assert.deepEqual(filesWith(server.dataDir, secret), index === 0 ? ['api-key'] : [])
  }
})

test('an unknown key and a known one with a wrong secret take the same time to refuse', async () => {
  const [, publicId = ''] = issued[0]!.key.split('_')
  const [, unusedId = ''] = (await newKey(caller, server.key, { name: 'never used' })).key.split('_')
  const secret = 'x'.repeat(32)
  const kinds: Record<string, string> = {
    unknown: `sk_${'0'.repeat(12)}_${secret}`,
    'known and in use': `sk_${publicId}_${secret}`,
    'known and not in use': `sk_${unusedId}_${secret}`,
  }
  const times = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]))
  for (let round = 0; round < 320; round++) {
    // In use means that the server has just seen it, whatever its answer.
    await caller.sendJson(issued[0]!.key, 'GET', '/org/limits')
    for (const [kind, key] of Object.entries(kinds)) {
      const startedAt = performance.now()
      const answer = await caller.sendJson(key, 'GET', '/org/limits')
      const elapsedMs = performance.now() - startedAt
      assert.equal(answer.status, 401)
      // The first rounds warm up both cases.
      if (round >= 20) times.get(kind)!.push(elapsedMs)
    }
  }
  const medians = [...times].map(([kind, all]) => ({
    kind,
    ms: all.toSorted((a, b) => a - b)[all.length / 2]!,
  }))
  const spread = Math.max(...medians.map(({ ms }) => ms)) - Math.min(...medians.map(({ ms }) => ms))
  assert.ok(spread < 1, `medians differ by ${spread.toFixed(2)} ms: ${JSON.stringify(medians)}`)
})
