// No operation validates a body, answers 2xx and leaves the database alone: every operation but GET runs in a
// transaction with its audit record. So there are two comparisons. A refusal with 400, which does leave the
// database alone, is compared with the bare echo's 400. A 200 of the cheapest change, a PATCH of limits that
// changes nothing, is compared with bare Fastify and the same statements.
import assert from 'node:assert/strict'
import type { HttpRequest } from '../subjects/http-client.ts'
import { compare } from '../measure/compare.ts'
import { atLeast } from '../measure/metric.ts'
import type { LoadTarget } from './load-block.ts'
import { loadComparison } from './load-comparison.ts'
import type { ApiRow } from './row.ts'

const GOAL = atLeast(0.6, 0.75)
const INVALID = { name: 42 }
const VALID = { name: 'A project' }
const NO_LIMITS = {
  max_concurrent_sessions: null,
  max_concurrent_invocations: null,
  max_pooled_sessions: null,
  max_storage_bytes: null,
}

export const validateBodyRow: ApiRow = {
  number: 28,
  title: 'POST with validation of the body, against a POST echo in bare Fastify',
  async *measure(setup, measuring) {
    const post = (url: string, method: string, body: object): HttpRequest => ({
      url,
      method,
      headers: { ...setup.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const refused: LoadTarget = {
      who: 'ours',
      request: post(`${setup.oursUrl}/org/projects`, 'POST', INVALID),
      isAudited: true,
      status: 400,
      check: (body) => assert.equal((body as { code: string }).code, 'bad_request'),
    }
    const echo: LoadTarget = {
      who: 'bare',
      request: post(`${setup.bareUrl}/echo`, 'POST', VALID),
      isAudited: false,
      status: 200,
      check: (body) => assert.deepEqual(body, VALID),
    }
    yield await compare(
      loadComparison(
        setup,
        {
          row: 28,
          name: 'POST, our 400 against an echo with 200',
          ours: refused,
          baseline: echo,
          note: 'compares a refusal of POST /org/projects with a 200 of the echo, so the two do not do the same work',
        },
        measuring,
      ),
      measuring,
    )

    const bareRefused: LoadTarget = {
      who: 'bare',
      request: post(`${setup.bareUrl}/echo`, 'POST', INVALID),
      isAudited: false,
      status: 400,
      check: (body) => assert.equal((body as { code: string }).code, 'FST_ERR_VALIDATION'),
    }
    yield await compare(
      loadComparison(
        setup,
        {
          row: 28,
          name: 'POST, 400 on both sides',
          ours: refused,
          baseline: bareRefused,
          perSecond: GOAL,
        },
        measuring,
      ),
      measuring,
    )

    const path = `/org/projects/${setup.projectIds[6_000]}/limits`
    const unchanged = (who: LoadTarget['who'], base: string): LoadTarget => ({
      who,
      request: post(base + path, 'PATCH', {}),
      isAudited: true,
      status: 200,
      check: (body) => assert.deepEqual(body, NO_LIMITS),
    })
    yield await compare(
      loadComparison(
        setup,
        {
          row: 28,
          name: 'PATCH limits {}, 200',
          ours: unchanged('ours', setup.oursUrl),
          baseline: unchanged('bare', setup.bareUrl),
          perSecond: GOAL,
          note: 'every 200 of this API uses the database; this one does the least, and both sides run the same four statements',
        },
        measuring,
      ),
      measuring,
    )
  },
}
