import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz } from './run.ts'

const REQUESTS = 20_000
// Fixed, so that a failure here is a failure everywhere; `npm run fuzz` takes a new one each time.
const SEED = 1

test('twenty thousand made-up requests are all answered as the document says', async (t) => {
  const { table, problems } = await fuzz(t, { requests: REQUESTS, seed: SEED })
  t.diagnostic(table)
  assert.ok(problems.length === 0, `seed ${SEED}:\n${problems.join('\n')}`)
})
