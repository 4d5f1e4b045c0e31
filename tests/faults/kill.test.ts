// The server is killed at random moments and at every crash point of a write; no acknowledged write is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { killRounds } from './kill.ts'
import { amount } from '../tiers.ts'

test('kill -9 at any moment loses no acknowledged write', async (t) => {
  const rounds = amount('killRounds')
  const { acknowledged } = await killRounds(t, rounds)
  t.diagnostic(`${acknowledged} acknowledged writes survived ${rounds * 2} kills`)
  assert.ok(acknowledged > 0)
  if (rounds >= 10) assert.ok(acknowledged > 50)
})

const crashPoints = [
  { at: 'migration-1', during: 'start' },
  { at: 'bootstrap', during: 'start' },
  { at: 'before-commit', during: 'request' },
  { at: 'after-commit', during: 'request' },
] as const

for (const { at, during } of crashPoints) {
  test(`a crash at "${at}" leaves a step complete or not done`, async (t) => {
    const dataDir = tempDir(t)
    const env = { BERTH_CRASH_AT: at }
    if (during === 'start') {
      await assert.rejects(
        startServer(t, { dataDir, env, makesCluster: true }),
        /ended with code null before it was ready/,
      )
    } else {
      const doomed = await startServer(t, { dataDir, env })
      await assert.rejects(create(doomed))
    }
    const server = await startServer(t, { dataDir })
    const { status } = await create(server)
    assert.equal(status, at === 'after-commit' ? 409 : 201)
    const projects = (await (await server.fetch('/org/projects')).json()) as { name: string }[]
    assert.deepEqual(
      projects.map((project) => project.name),
      ['written', 'Default'],
    )
    const audit = await server.fetch(
      `/audit-logs?method=POST&start=${new Date(Date.now() - 60_000).toISOString()}&end=${new Date(Date.now() + 60_000).toISOString()}`,
    )
    const statuses = ((await audit.json()) as { status: number }[]).map((entry) => entry.status)
    assert.deepEqual(statuses, at === 'after-commit' ? [409, 201] : [201], 'no change without its record')
  })
}

function create(server: TestServer): Promise<Response> {
  return server.fetch('/org/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'written' }),
    headers: { 'content-type': 'application/json' },
  })
}
