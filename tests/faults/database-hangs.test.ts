// A server must be able to stop, whatever its database does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FaultProxy } from '../fixtures/fault-proxy.ts'
import { databaseUrl, startPostgres } from '../fixtures/postgres.ts'
import { startServer } from '../fixtures/server.ts'

test('a server whose database hangs stops all the same', async (t) => {
  const postgres = await startPostgres(t)
  const proxy = await FaultProxy.start(t, postgres.socketDir)
  const server = await startServer(t, { env: { DATABASE_URL: databaseUrl(proxy.socketDir) } })
  proxy.hold()
  assert.equal(await server.stop('SIGTERM'), 0, server.output())
})
