import assert from 'node:assert/strict'
import type { Stage } from '../arms/stage.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { latencyReadings } from './latency-readings.ts'
import type { StageRow } from './row.ts'

const UPDATE = `UPDATE projects SET name = $1, updated_at = now()
  WHERE id = $2 AND deleted_at IS NULL RETURNING *`

let changeCount = 0
const newName = () => `Renamed ${++changeCount}`

function line(name: string, reading: string, unit: string): Metric {
  const digits = unit === 'ms' ? 2 : 0
  return { row: 29, name: `PATCH project: ${name}`, reading, unit, digits, judged: 'ratio' }
}

export const updateProjectRow: StageRow = {
  number: 29,
  title: 'Durable write, against a bare driver UPDATE and a bare Fastify hello, summed',
  async *measure(stage, measuring) {
    const { effort } = measuring
    const arms = (requests: number) => ({
      ours: patchBlock(stage, requests),
      baseline: updateAndHelloBlock(stage, requests),
    })
    yield await compare(
      {
        arms: arms(effort.requestsPerBlock),
        warmUp: arms(effort.requestsPerWarmUp),
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

function patchBlock(stage: Stage, requests: number): Block {
  const id = stage.projectIds[7_000]!
  const headers = { ...stage.headers, 'content-type': 'application/json' }
  return async () => {
    const elapsedMs: number[] = []
    const before = stage.cpuMs()
    let name = ''
    for (let count = 0; count < requests; count++) {
      name = newName()
      const answer = await stage.http.send({
        url: `${stage.oursUrl}/org/projects/${id}`,
        method: 'PATCH',
        headers,
        body: JSON.stringify({ name }),
      })
      assert.equal(answer.status, 200, answer.text)
      assert.equal((JSON.parse(answer.text) as { name: string }).name, name)
      elapsedMs.push(answer.elapsedMs)
    }
    const after = stage.cpuMs()
    await assertStored(stage, id, name)
    const cpuMs = after.ours - before.ours + after.postgres - before.postgres
    return latencyReadings(elapsedMs, cpuMs)
  }
}

function updateAndHelloBlock(stage: Stage, requests: number): Block {
  const id = stage.projectIds[7_001]!
  return async () => {
    const before = stage.cpuMs()
    const names = Array.from({ length: requests }, newName)
    const updated = await stage.driver.run({ sql: UPDATE, values: names.map((name) => [name, id]) })
    assert.ok(updated.rowCounts.every((count) => count === 1))
    const elapsedMs: number[] = []
    for (const updateMs of updated.elapsedMs) {
      const hello = await stage.http.send({ url: `${stage.bareUrl}/hello`, method: 'GET' })
      assert.deepEqual(JSON.parse(hello.text), { hello: 'world' })
      elapsedMs.push(updateMs + hello.elapsedMs)
    }
    const after = stage.cpuMs()
    await assertStored(stage, id, names.at(-1)!)
    const cpuMs = after.driver - before.driver + after.bare - before.bare + after.postgres - before.postgres
    return latencyReadings(elapsedMs, cpuMs)
  }
}

async function assertStored({ database }: Stage, id: string, name: string): Promise<void> {
  const { rows } = await database.query<{ name: string }>('SELECT name FROM projects WHERE id = $1', [id])
  assert.equal(rows[0]?.name, name)
}
