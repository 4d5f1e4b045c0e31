import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { WebSocketServer, type WebSocket } from 'ws'
import { PreparedClient } from './prepared-client.ts'

const PATH = '/devtools/browser/1'
const never = new AbortController().signal

/** A browser that answers with what it was asked. */
async function startBrowser(t: TestContext) {
  const server: Server = createServer()
  const clients: WebSocket[] = []
  const sockets = new WebSocketServer({ server, path: PATH })
  sockets.on('connection', (client) => {
    clients.push(client)
    client.on('message', (data) => client.send(data, { binary: false }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const client of clients) client.terminate()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const opened: Socket[] = []
  const instance = {
    connect: async () => {
      const socket = connect(port, '127.0.0.1')
      opened.push(socket)
      t.after(() => socket.destroy())
      await once(socket, 'connect')
      return socket
    },
  }
  return { instance, clients, opened }
}

/** Text, masked with zeros. */
function frameOf(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])
}

test('a client that was prepared is a paused stream, before the first frame of either side', async (t) => {
  const { instance } = await startBrowser(t)
  const prepared = await PreparedClient.open(instance, PATH, never)
  const stream = prepared!.take()!
  stream.write(frameOf('hello'))
  const answer = once(stream, 'data')
  stream.resume()
  assert.deepEqual((await answer)[0], Buffer.concat([Buffer.from([0x81, 5]), Buffer.from('hello')]))
})

test('one that the browser has closed is not given to anybody', async (t) => {
  const { instance, clients, opened } = await startBrowser(t)
  const prepared = await PreparedClient.open(instance, PATH, never)
  const closed = once(opened[0]!, 'close')
  clients[0]!.close()
  await closed
  assert.equal(prepared!.take(), undefined)
})

test('a browser that speaks first gets no client', async (t) => {
  const { instance, clients, opened } = await startBrowser(t)
  const prepared = await PreparedClient.open(instance, PATH, never)
  const closed = once(opened[0]!, 'close')
  clients[0]!.send('unasked')
  await closed
  assert.equal(prepared!.take(), undefined)
})

test('nothing is prepared for a path that the browser does not know, or once the server stops', async (t) => {
  const { instance, opened } = await startBrowser(t)
  assert.equal(await PreparedClient.open(instance, '/devtools/browser/2', never), undefined)
  assert.ok(opened[0]!.destroyed)
  assert.equal(await PreparedClient.open(instance, PATH, AbortSignal.abort()), undefined)
  assert.ok(opened[1]!.destroyed)
})

test('closing it closes the connection', async (t) => {
  const { instance, clients } = await startBrowser(t)
  const prepared = await PreparedClient.open(instance, PATH, never)
  const closed = once(clients[0]!, 'close')
  prepared!.close()
  await closed
})
