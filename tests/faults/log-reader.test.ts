// The log goes to whoever started the server, and that one may stop reading or be gone.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'

const ENDS_WITHIN_MS = 15_000

async function endsWell(t: TestContext, server: TestServer, ended: Promise<number | null>): Promise<void> {
  const timer = setTimeout(() => server.process.kill('SIGKILL'), ENDS_WITHIN_MS)
  t.after(() => clearTimeout(timer))
  assert.equal(await ended, 0)
}

function leave({ process: { stdout, stderr } }: TestServer): void {
  stdout!.destroy()
  stderr!.destroy()
}

test('a server whose log has no reader any more serves, and ends', async (t) => {
  const server = await startServer(t, { env: { BERTH_LOG_LEVEL: 'debug' } })
  leave(server)
  for (let count = 0; count < 20; count++) assert.equal((await server.fetch('/org/projects')).status, 200)
  await endsWell(t, server, server.stop('SIGTERM'))
})

test('a reader that leaves while the server stops does not keep it', async (t) => {
  const server = await startServer(t)
  const ended = server.stop('SIGTERM')
  await eventually('it says that it stops', () => server.output().includes('"msg":"stopping"'))
  leave(server)
  await endsWell(t, server, ended)
})

test('a server whose log nobody reads serves, counts what it drops, and ends', async (t) => {
  const server = await startServer(t, { env: { BERTH_LOG_LEVEL: 'debug' } })
  server.process.stdout!.pause()
  const isDropping = async () => {
    const metrics = await (await server.fetch('/metrics')).text()
    return Number(/^berth_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]) > 0
  }
  for (let round = 0; !(await isDropping()); round++) {
    assert.ok(round < 100, 'nothing is ever dropped')
    await Promise.all(Array.from({ length: 100 }, () => server.fetch('/org/projects')))
  }
  // What is left in the pipe is read only to see its end.
  server.process.once('exit', () => server.process.stdout!.resume())
  await endsWell(t, server, server.stop('SIGTERM'))
})
