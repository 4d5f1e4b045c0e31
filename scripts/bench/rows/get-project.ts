import assert from 'node:assert/strict'
import { compare } from '../measure/compare.ts'
import { atLeast, atMost } from '../measure/metric.ts'
import type { LoadTarget } from './load-block.ts'
import { loadComparison } from './load-comparison.ts'
import type { ApiRow } from './row.ts'

export const getProjectRow: ApiRow = {
  number: 27,
  title: 'GET of one resource, against bare Fastify with one indexed SELECT',
  async *measure(setup, measuring) {
    const id = setup.projectIds[5_000]!
    const target = (who: LoadTarget['who'], base: string): LoadTarget => ({
      who,
      request: { url: `${base}/org/projects/${id}`, method: 'GET', headers: setup.headers },
      paths: setup.projectIds.slice(4_000, 4_100).map((other) => `/org/projects/${other}`),
      isAudited: who === 'ours',
      status: 200,
      check: (body) => assert.deepEqual(body, expected),
    })
    const { rows } = await setup.database.query<{ expected: object }>(
      `SELECT json_build_object('id', id, 'name', name, 'status', status,
         'created_at', to_char(created_at AT TIME ZONE 'UTC', $2),
         'updated_at', to_char(updated_at AT TIME ZONE 'UTC', $2)) AS expected
       FROM projects WHERE id = $1`,
      [id, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'],
    )
    const expected = rows[0]!.expected
    const comparison = loadComparison(
      setup,
      {
        row: 27,
        name: 'GET project',
        ours: target('ours', setup.oursUrl),
        baseline: target('bare', setup.bareUrl),
        perSecond: atLeast(0.75, 0.9),
        cpu: atMost(1.35),
      },
      measuring,
    )
    yield await compare(comparison, measuring)
  },
}
