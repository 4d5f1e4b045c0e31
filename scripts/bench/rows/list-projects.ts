import assert from 'node:assert/strict'
import { summaryColumns } from '@berth/server/tenancy/projects/types'
import { PROJECT_COUNT } from '../subjects/projects.ts'
import type { ApiSetup } from '../subjects/api-setup.ts'
import { compare } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { latencyReadings } from './latency-readings.ts'
import type { ApiRow } from './row.ts'

const PAGE_SIZE = 100
/** The server reads one row more than the page, to know whether another page follows. */
const LIST = `SELECT ${summaryColumns.join(', ')} FROM projects WHERE deleted_at IS NULL
  ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`

export const listProjectsRow: ApiRow = {
  number: 30,
  title: `List ${PROJECT_COUNT} projects, against the same SQL through the bare driver`,
  async *measure(setup, measuring) {
    const { effort } = measuring
    for (const [name, offset] of [
      ['first page of 100', 0],
      ['page at 9,900', 9_900],
    ] as const) {
      const { rows } = await setup.database.query<{ id: string }>(LIST, [PAGE_SIZE, offset])
      const ids = rows.map((row) => row.id)
      const blocks = (requests: number) => ({
        ours: listBlock(setup, { requests, offset, ids }),
        baseline: selectBlock(setup, { requests, offset, ids }),
      })
      const line = (what: string, reading: string, unit: string): Metric => ({
        row: 30,
        name: `GET projects, ${name}: ${what}`,
        reading,
        unit,
        digits: unit === 'ms' ? 2 : 0,
        judged: 'ratio',
      })
      yield await compare(
        {
          blocks: blocks(effort.requestsPerBlock),
          warmUp: blocks(effort.requestsPerWarmUp),
          pairs: effort.latencyPairs,
          metrics: [
            { ...line('p50', 'p50Ms', 'ms'), goal: atMost(2, 1.4) },
            line('p95', 'p95Ms', 'ms'),
            line('CPU with PostgreSQL', 'cpuUs', 'µs/req'),
          ],
        },
        measuring,
      )
    }
  },
}

interface Page {
  readonly requests: number
  readonly offset: number
  /** The ids of the projects that must be on the page. */
  readonly ids: readonly string[]
}

function listBlock(setup: ApiSetup, { requests, offset, ids }: Page): Block {
  const url = `${setup.oursUrl}/org/projects?limit=${PAGE_SIZE}&offset=${offset}`
  return async () => {
    const elapsedMs: number[] = []
    const before = setup.cpuMs()
    let text = ''
    for (let count = 0; count < requests; count++) {
      const answer = await setup.http.send({ url, method: 'GET', headers: setup.headers })
      assert.equal(answer.status, 200, answer.text)
      elapsedMs.push(answer.elapsedMs)
      text = answer.text
    }
    const after = setup.cpuMs()
    assertPage(JSON.parse(text) as { id: string }[], ids)
    return latencyReadings(elapsedMs, after.ours - before.ours + after.postgres - before.postgres)
  }
}

function selectBlock(setup: ApiSetup, { requests, offset, ids }: Page): Block {
  return async () => {
    const before = setup.cpuMs()
    const values = Array.from({ length: requests }, () => [PAGE_SIZE + 1, offset])
    const { elapsedMs, lastRows } = await setup.driver.run({ sql: LIST, values })
    const after = setup.cpuMs()
    assertPage(lastRows.slice(0, PAGE_SIZE) as { id: string }[], ids)
    return latencyReadings(elapsedMs, after.driver - before.driver + after.postgres - before.postgres)
  }
}

function assertPage(items: readonly { id: string }[], wanted: readonly string[]): void {
  assert.deepEqual(
    items.map((item) => item.id),
    wanted,
  )
}
