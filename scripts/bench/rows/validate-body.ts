// No operation of today validates a body, answers 2xx and leaves the database alone: whatever is not
// a GET runs in a transaction with its audit record. So the way to 400, which does leave it alone, is
// held against the bare echo's own 400, as both arms must end at the same point; and for the way to 200
// the cheapest such operation, a change of limits that changes none, against bare Fastify with the very
// same statements.
import assert from 'node:assert/strict'
import type { HttpRequest } from '../arms/http-client.ts'
import { compare } from '../measure/compare.ts'
import { atLeast } from '../measure/metric.ts'
import type { LoadArm } from './load-block.ts'
import { loadComparison } from './load-comparison.ts'
import type { StageRow } from './row.ts'

const GOAL = atLeast(0.6, 0.75)
const INVALID = { name: 42 }
const VALID = { name: 'A project' }
const NO_LIMITS = {
  max_concurrent_sessions: null,
  max_concurrent_invocations: null,
  max_pooled_sessions: null,
}

export const validateBodyRow: StageRow = {
  number: 28,
  title: 'POST with validation, against bare Fastify POST echo',
  async *measure(stage, measuring) {
    const post = (url: string, method: string, body: object): HttpRequest => ({
      url,
      method,
      headers: { ...stage.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const refused: LoadArm = {
      who: 'ours',
      request: post(`${stage.oursUrl}/org/projects`, 'POST', INVALID),
      isAudited: true,
      status: 400,
      check: (body) => assert.equal((body as { code: string }).code, 'bad_request'),
    }
    const echo: LoadArm = {
      who: 'bare',
      request: post(`${stage.bareUrl}/echo`, 'POST', VALID),
      isAudited: false,
      status: 200,
      check: (body) => assert.deepEqual(body, VALID),
    }
    yield await compare(
      loadComparison(
        stage,
        {
          row: 28,
          name: 'POST, refused with 400 against 200',
          ours: refused,
          baseline: echo,
          note: 'the refusal of POST /org/projects against the 200 of the echo, so not the same end point',
        },
        measuring,
      ),
      measuring,
    )

    const bareRefused: LoadArm = {
      who: 'bare',
      request: post(`${stage.bareUrl}/echo`, 'POST', INVALID),
      isAudited: false,
      status: 400,
      check: (body) => assert.equal((body as { code: string }).code, 'FST_ERR_VALIDATION'),
    }
    yield await compare(
      loadComparison(
        stage,
        {
          row: 28,
          name: 'POST, both refuse with 400',
          ours: refused,
          baseline: bareRefused,
          perSecond: GOAL,
        },
        measuring,
      ),
      measuring,
    )

    const path = `/org/projects/${stage.projectIds[6_000]}/limits`
    const unchanged = (who: LoadArm['who'], base: string): LoadArm => ({
      who,
      request: post(base + path, 'PATCH', {}),
      isAudited: true,
      status: 200,
      check: (body) => assert.deepEqual(body, NO_LIMITS),
    })
    yield await compare(
      loadComparison(
        stage,
        {
          row: 28,
          name: 'PATCH limits {}, ok',
          ours: unchanged('ours', stage.oursUrl),
          baseline: unchanged('bare', stage.bareUrl),
          perSecond: GOAL,
          note: 'the closest there is to an ok path without database; both run the same four statements',
        },
        measuring,
      ),
      measuring,
    )
  },
}
