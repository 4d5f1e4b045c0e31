import assert from 'node:assert/strict'
import type { ApiSetup } from '../subjects/api-setup.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { latencyReadings } from './latency-readings.ts'
import type { ApiRow } from './row.ts'

const UPDATE = `UPDATE projects SET name = $1, updated_at = now()
  WHERE id = $2 AND deleted_at IS NULL RETURNING *`

let changeCount = 0
const newName = () => `Renamed ${++changeCount}`

function line(name: string, reading: string, unit: string): Metric {
  const digits = unit === 'ms' ? 2 : 0
  return { row: 29, name: `PATCH project: ${name}`, reading, unit, digits, judged: 'ratio' }
}

export const updateProjectRow: ApiRow = {
  number: 29,
  title: 'Durable write, against a bare driver UPDATE and a bare Fastify hello, summed',
  async *measure(setup, measuring) {
    const { effort } = measuring
    const blocks = (requests: number) => ({
      ours: patchBlock(setup, requests),
      baseline: updateAndHelloBlock(setup, requests),
    })
    yield await compare(
      {
        blocks: blocks(effort.requestsPerBlock),
        warmUp: blocks(effort.requestsPerWarmUp),
        pairs: effort.latencyPairs,
        metrics: [
          { ...line('p50', 'p50Ms', 'ms'), goal: atMost(1.5, 1.15) },
          line('p95', 'p95Ms', 'ms'),
          line('CPU with PostgreSQL', 'cpuUs', 'µs/req'),
        ],
      },
      measuring,
    )
  },
}

function patchBlock(setup: ApiSetup, requests: number): Block {
  const id = setup.projectIds[7_000]!
  const headers = { ...setup.headers, 'content-type': 'application/json' }
  return async () => {
    const elapsedMs: number[] = []
    const before = setup.cpuMs()
    let name = ''
    for (let count = 0; count < requests; count++) {
      name = newName()
      const answer = await setup.http.send({
        url: `${setup.oursUrl}/org/projects/${id}`,
        method: 'PATCH',
        headers,
        body: JSON.stringify({ name }),
      })
      assert.equal(answer.status, 200, answer.text)
      assert.equal((JSON.parse(answer.text) as { name: string }).name, name)
      elapsedMs.push(answer.elapsedMs)
    }
    const after = setup.cpuMs()
    await assertStored(setup, id, name)
    const cpuMs = after.ours - before.ours + after.postgres - before.postgres
    return latencyReadings(elapsedMs, cpuMs)
  }
}

function updateAndHelloBlock(setup: ApiSetup, requests: number): Block {
  const id = setup.projectIds[7_001]!
  return async () => {
    const before = setup.cpuMs()
    const names = Array.from({ length: requests }, newName)
    const updated = await setup.driver.run({ sql: UPDATE, values: names.map((name) => [name, id]) })
    assert.ok(updated.rowCounts.every((count) => count === 1))
    const elapsedMs: number[] = []
    for (const updateMs of updated.elapsedMs) {
      const hello = await setup.http.send({ url: `${setup.bareUrl}/hello`, method: 'GET' })
      assert.deepEqual(JSON.parse(hello.text), { hello: 'world' })
      elapsedMs.push(updateMs + hello.elapsedMs)
    }
    const after = setup.cpuMs()
    await assertStored(setup, id, names.at(-1)!)
    const cpuMs = after.driver - before.driver + after.bare - before.bare + after.postgres - before.postgres
    return latencyReadings(elapsedMs, cpuMs)
  }
}

async function assertStored({ database }: ApiSetup, id: string, name: string): Promise<void> {
  const { rows } = await database.query<{ name: string }>('SELECT name FROM projects WHERE id = $1', [id])
  assert.equal(rows[0]?.name, name)
}
