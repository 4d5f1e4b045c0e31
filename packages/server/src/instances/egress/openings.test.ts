// What one instance may reach beyond what all may reach.
import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { API_HOST } from '@berth/contracts/link'
import { echo, openTunnel, readUntil, startProxy, startServer } from '../../../../../tests/fixtures/egress.ts'

test("a listener's own entries are open to it only, until they are replaced", async (t) => {
  const server = await startServer(t, echo)
  const target = `host.berth.internal:${server.port}`
  const [one, other] = [await startProxy(t), await startProxy(t)]
  assert.equal((await openTunnel(t, one.path, target)).status, 403)
  one.listener.open({ allow: [target] })
  const { status, socket } = await openTunnel(t, one.path, target)
  assert.equal(status, 200)
  socket.write('ahoy!')
  assert.equal(await readUntil(socket, '!'), 'ahoy')
  assert.equal((await openTunnel(t, other.path, target)).status, 403)
  assert.equal((await openTunnel(t, one.path, 'host.berth.internal:1')).status, 403)
  one.listener.open({ allow: [] })
  assert.equal((await openTunnel(t, one.path, target)).status, 403)
})

test('the API is reached only by its name, and only where it is open', async (t) => {
  const [one, other] = [await startProxy(t), await startProxy(t)]
  const taken: Duplex[] = []
  one.listener.open({
    allow: [],
    toApi: (connection) => {
      taken.push(connection)
      connection.write('here')
    },
  })
  const { status, socket } = await openTunnel(t, one.path, `${API_HOST}:80`)
  assert.equal(status, 200)
  assert.equal(await readUntil(socket, 'ere'), 'h')
  assert.equal(taken.length, 1)
  assert.notEqual((await openTunnel(t, other.path, `${API_HOST}:80`)).status, 200)
  assert.notEqual((await openTunnel(t, one.path, `x.${API_HOST}:80`)).status, 200)
  assert.equal(taken.length, 1)
})
