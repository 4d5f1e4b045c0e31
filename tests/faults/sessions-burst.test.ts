import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../fixtures/server.ts'
import { burst } from './sessions-burst.ts'

test('each of a hundred parallel creates is a complete session or refused with a reason', async (t) => {
  const env = { BERTH_MAX_CONCURRENT_SESSIONS: '6', BERTH_WARM_HEADLESS: '1' }
  const server = await startServer(t, { hasRealInstances: true, env })
  const { answers, seconds } = await burst(server, 100)
  t.diagnostic(`${JSON.stringify(answers)} after ${seconds.toFixed(1)} s`)
  const { 200: made = 0, '429 too_many_sessions': refused, '529 capacity_exhausted': late = 0 } = answers
  assert.equal(refused, 94)
  // A busy machine may not start the last of the six within the 30 s that a create waits for its turn.
  assert.ok(made > 0)
  assert.equal(made + late, 6)
})
