// How the server stops: SIGTERM finishes running work, SIGINT ends at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'node:net'
import { startServer } from '../fixtures/server.ts'

test('SIGTERM: readiness becomes 503 first, work finishes, then the process exits with 0', async (t) => {
  const server = await startServer(t, { env: { BERTH_DRAIN_SECONDS: '1' } })
  const exited = server.stop('SIGTERM')
  let status = 200
  while (status === 200) status = (await server.fetch('/ready', { key: null })).status
  assert.equal(status, 503)
  const during = await server.fetch('/org/projects')
  assert.equal(during.status, 200, 'requests are still served while draining')
  assert.equal(during.headers.get('connection'), 'close')
  assert.equal(await exited, 0)
})

test('a second SIGTERM changes nothing, and SIGINT ends the server at once', async (t) => {
  const first = await startServer(t, { env: { BERTH_DRAIN_SECONDS: '1' } })
  first.process.kill('SIGTERM')
  assert.equal(await first.stop('SIGTERM'), 0)
  const second = await startServer(t, { env: { BERTH_DRAIN_SECONDS: '600' } })
  assert.equal(await second.stop('SIGINT'), 0)
})

test('a running request is finished, an idle connection is closed', async (t) => {
  const server = await startServer(t)
  const { port } = new URL(server.url)
  const idle = connect(Number(port), '127.0.0.1')
  const idleClosed = new Promise((resolve) => idle.once('close', resolve))
  const slow = connect(Number(port), '127.0.0.1')
  let answer = ''
  slow.on('data', (chunk) => (answer += chunk.toString()))
  const slowClosed = new Promise((resolve) => slow.once('close', resolve))
  const body = JSON.stringify({ name: 'finished' })
  slow.write(
    `POST /org/projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  // Its answer proves that the request above was received, because both share the event loop.
  await server.fetch('/health', { key: null })
  const exited = server.stop('SIGTERM')
  slow.write(body.slice(5))
  await Promise.all([slowClosed, idleClosed])
  assert.match(answer, /^HTTP\/1\.1 201 /)
  assert.equal(await exited, 0)
})
