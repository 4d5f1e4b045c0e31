// The server is killed at a random moment in a stream of writes, started again, and asked for everything it
// acknowledged. Used by the test (a few rounds) and by `npm run soak` (many).
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../fixtures/random.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import type { Owner } from '../fixtures/cleanup.ts'

interface Acknowledged {
  readonly projects: Map<string, string>
  readonly deleted: Set<string>
  readonly limits: Map<string, number>
  readonly keys: Map<string, string>
  readonly answers: Map<string, { name: string; id: string }>
}

const json = (method: string, body: object, headers: Record<string, string> = {}) => ({
  method,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
})

/** Writes until the server is gone; only answered writes count as acknowledged. */
async function writeUntilKilled(
  server: TestServer,
  { round, known, onAcknowledged }: { round: number; known: Acknowledged; onAcknowledged: () => void },
): Promise<void> {
  for (let count = 0; ; count++) {
    try {
      const name = `r${round}-${count}`
      const idempotencyKey = `key-${round}-${count}`
      const response = await server.fetch(
        '/org/projects',
        json('POST', { name }, { 'idempotency-key': idempotencyKey }),
      )
      const { id } = (await response.json()) as { id: string }
      known.projects.set(id, name)
      known.answers.set(idempotencyKey, { name, id })
      onAcknowledged()
      const renamed = await server.fetch(`/org/projects/${id}`, json('PATCH', { name: `${name}!` }))
      await renamed.json()
      known.projects.set(id, `${name}!`)
      onAcknowledged()
      const limited = await server.fetch(
        `/org/projects/${id}/limits`,
        json('PATCH', { max_concurrent_sessions: count + 1 }),
      )
      await limited.json()
      known.limits.set(id, count + 1)
      onAcknowledged()
      if (count % 4 === 0) {
        const created = await server.fetch('/org/api_keys', json('POST', { name, project_id: id }))
        known.keys.set(id, ((await created.json()) as { key: string }).key)
      } else if (count % 4 === 1) {
        known.projects.delete(id)
        known.limits.delete(id)
        known.answers.delete(idempotencyKey)
        await server.fetch(`/org/projects/${id}`, { method: 'DELETE' })
        known.deleted.add(id)
      }
    } catch (error) {
      if (error instanceof TypeError || server.process.signalCode !== null) return
      throw error
    }
  }
}

async function verify(server: TestServer, known: Acknowledged): Promise<void> {
  for (const [id, name] of known.projects) {
    const response = await server.fetch(`/org/projects/${id}`)
    assert.equal(response.status, 200, `project ${id} was acknowledged`)
    const project = (await response.json()) as { name: string }
    // A rename may have been in progress; then it is done or not done.
    assert.ok([name, `${name}!`].includes(project.name), `${project.name} instead of ${name}`)
    const limits = (await (await server.fetch(`/org/projects/${id}/limits`)).json()) as {
      max_concurrent_sessions: number | null
    }
    if (known.limits.has(id)) assert.equal(limits.max_concurrent_sessions, known.limits.get(id))
  }
  for (const id of known.deleted) {
    assert.equal((await server.fetch(`/org/projects/${id}`)).status, 404)
  }
  for (const key of known.keys.values()) {
    assert.equal((await server.fetch('/org/projects', { key })).status, 200, 'the key works')
  }
  for (const [key, { name, id }] of known.answers) {
    const again = await server.fetch('/org/projects', json('POST', { name }, { 'idempotency-key': key }))
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(((await again.json()) as { id: string }).id, id, 'one effect')
  }
}

export async function killRounds(owner: Owner, rounds: number): Promise<{ acknowledged: number }> {
  const dataDir = tempDir(owner)
  const random = seededRandom('kills')
  let acknowledged = 0
  for (let round = 0; round < rounds; round++) {
    const known: Acknowledged = {
      projects: new Map(),
      deleted: new Set(),
      limits: new Map(),
      keys: new Map(),
      answers: new Map(),
    }
    const server = await startServer(owner, { dataDir, hasOwnPostgres: true })
    // After a number of answers, not after a time, and then at a random point of the next writes.
    let left = random.integer(1, 40)
    const enough = Promise.withResolvers<void>()
    const onAcknowledged = () => {
      if (--left === 0) enough.resolve()
    }
    const writers = [0, 1].map((index) =>
      writeUntilKilled(server, { round: round * 2 + index, known, onAcknowledged }),
    )
    await enough.promise
    await delay(random.next() * 8)
    await server.stop('SIGKILL')
    await Promise.all(writers)
    const restarted = await startServer(owner, { dataDir, hasOwnPostgres: true })
    assert.equal(restarted.key, server.key, 'no other first key')
    await verify(restarted, known)
    await restarted.stop('SIGKILL')
    acknowledged += known.projects.size + known.deleted.size
  }
  return { acknowledged }
}
