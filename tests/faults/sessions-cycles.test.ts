import { test } from 'node:test'
import { startServer } from '../fixtures/server.ts'
import { assertNoGrowth, cycles, CYCLES_ENV } from './sessions-cycles.ts'

test('a server uses no more memory after thirty sessions than after fifteen', async (t) => {
  const server = await startServer(t, { hasRealInstances: true, env: CYCLES_ENV })
  const growth = await cycles(server, { count: 30, from: 12, to: 18 })
  t.diagnostic(JSON.stringify(growth))
  assertNoGrowth(growth)
})
