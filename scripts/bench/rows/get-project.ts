import assert from 'node:assert/strict'
import { compare } from '../measure/compare.ts'
import { atLeast, atMost } from '../measure/metric.ts'
import type { LoadArm } from './load-block.ts'
import { loadComparison } from './load-comparison.ts'
import type { StageRow } from './row.ts'

export const getProjectRow: StageRow = {
  number: 27,
  title: 'GET of one resource, against bare Fastify with one indexed SELECT',
  async *measure(stage, measuring) {
    const id = stage.projectIds[5_000]!
    const arm = (who: LoadArm['who'], base: string): LoadArm => ({
      who,
      request: { url: `${base}/org/projects/${id}`, method: 'GET', headers: stage.headers },
      paths: stage.projectIds.slice(4_000, 4_100).map((other) => `/org/projects/${other}`),
      isAudited: who === 'ours',
      status: 200,
      check: (body) => assert.deepEqual(body, expected),
    })
    const { rows } = await stage.database.query<{ expected: object }>(
      `SELECT json_build_object('id', id, 'name', name, 'status', status,
         'created_at', to_char(created_at AT TIME ZONE 'UTC', $2),
         'updated_at', to_char(updated_at AT TIME ZONE 'UTC', $2)) AS expected
       FROM projects WHERE id = $1`,
      [id, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'],
    )
    const expected = rows[0]!.expected
    const comparison = loadComparison(
      stage,
      {
        row: 27,
        name: 'GET project',
        ours: arm('ours', stage.oursUrl),
        baseline: arm('bare', stage.bareUrl),
        perSecond: atLeast(0.75, 0.9),
        cpu: atMost(1.35),
      },
      measuring,
    )
    yield await compare(comparison, measuring)
  },
}
