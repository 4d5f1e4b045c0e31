// The log goes to the process that started the server, which may stop reading or end.
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

test('a server whose log reader is gone keeps serving, and can be stopped', async (t) => {
  const server = await startServer(t, { env: { BERTH_LOG_LEVEL: 'debug' } })
  leave(server)
  for (let count = 0; count < 20; count++) assert.equal((await server.fetch('/org/projects')).status, 200)
  await endsWell(t, server, server.stop('SIGTERM'))
})

test('a log reader that leaves during shutdown does not block it', async (t) => {
  const server = await startServer(t)
  const ended = server.stop('SIGTERM')
  await eventually('it says that it stops', () => server.output().includes('"msg":"stopping"'))
  leave(server)
  await endsWell(t, server, ended)
})

test('a server whose log is not read keeps serving, counts dropped lines, and can be stopped', async (t) => {
  const server = await startServer(t, { env: { BERTH_LOG_LEVEL: 'debug' } })
  server.process.stdout!.pause()
  const isDropping = async () => {
    const metrics = await (await server.fetch('/metrics')).text()
    return Number(/^berth_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]) > 0
  }
  for (let round = 0; !(await isDropping()); round++) {
    assert.ok(round < 100, 'the server dropped no line')
    await Promise.all(Array.from({ length: 100 }, () => server.fetch('/org/projects')))
  }
  // The rest of the pipe is read only to find its end.
  server.process.once('exit', () => server.process.stdout!.resume())
  await endsWell(t, server, server.stop('SIGTERM'))
})
