import { test } from 'node:test'
import { startServer } from '../fixtures/server.ts'
import { assertNoGrowth, cycles, WARM } from './sessions-cycles.ts'

test('a server is as large after thirty sessions as after fifteen', async (t) => {
  // Young objects get a small place from the start: otherwise it grows for the first minutes of any server.
  const env = { BERTH_WARM_HEADLESS: String(WARM), NODE_OPTIONS: '--max-semi-space-size=1' }
  const server = await startServer(t, { hasRealInstances: true, env })
  const growth = await cycles(server, { count: 30, from: 12, to: 18 })
  t.diagnostic(JSON.stringify(growth))
  assertNoGrowth(growth)
})
