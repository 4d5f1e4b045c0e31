import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectNet, createServer as createNetServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { connect, createServer } from 'node:tls'
import { newCertificate } from '../../../../../tests/fixtures/certificates.ts'
import { listenOn } from '../../../../../tests/fixtures/egress.ts'
import { cut } from './cut.ts'

test('TCP is reset, TLS and everything else ends', async (t) => {
  const server = createNetServer((socket) => cut(socket))
  const plain = connectNet(await listenOn(t, server), '127.0.0.1')
  const [error] = (await once(plain, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNRESET')

  const secure = createServer(newCertificate('localhost'), (socket) => socket.on('error', () => {}))
  const over = connect({ port: await listenOn(t, secure), host: '127.0.0.1', rejectUnauthorized: false })
  await once(over, 'secureConnect')
  cut(over)
  assert.equal(over.destroyed, true)
  // Again, and of something that is no socket at all.
  cut(over)
  const other = new Duplex({ read() {}, write() {} })
  cut(other)
  assert.equal(other.destroyed, true)
  const gone: Socket = plain
  cut(gone)
})
