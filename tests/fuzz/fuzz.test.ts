import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amount } from '../tiers.ts'
import { fuzz } from './run.ts'

const REQUESTS = amount('fuzzRequests')
// Fixed, so that a failure can be reproduced; `npm run fuzz` uses a new seed each time.
const SEED = 1

test('all generated requests are answered as the document says', async (t) => {
  const { table, problems } = await fuzz(t, { requests: REQUESTS, seed: SEED })
  t.diagnostic(table)
  assert.ok(problems.length === 0, `seed ${SEED}:\n${problems.join('\n')}`)
})
