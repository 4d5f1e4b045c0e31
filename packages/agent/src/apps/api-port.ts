// Lets an app call our own API through a port on the instance's loopback, so that clients need no proxy settings. Each
// connection is passed on to the server, which treats it like any other.
import { connect, createServer, type Socket } from 'node:net'
import { API_HOST, API_PORT } from '@berth/contracts/link'
import { pipeBothWays } from '@berth/kit/pipe-both-ways'

const MAX_ANSWER_BYTES = 4096
const HEAD_END = '\r\n\r\n'

export function openApiPort(egressSocket: string): void {
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => {})
    carry(client, egressSocket).catch(() => client.destroy())
  })
  server.listen(API_PORT, '127.0.0.1')
  // If the app has taken the port itself, it loses the API; nothing else breaks.
  server.on('error', () => {})
}

async function carry(client: Socket, egressSocket: string): Promise<void> {
  const egress = connect(egressSocket)
  egress.on('error', () => client.destroy())
  client.once('close', () => egress.destroy())
  egress.write(`CONNECT ${API_HOST}:80 HTTP/1.1\r\nHost: ${API_HOST}:80\r\n\r\n`)
  const answer = await readHead(egress)
  if (!answer.startsWith('HTTP/1.1 200 ')) return void client.destroy()
  pipeBothWays(client, egress)
}

async function readHead(egress: Socket): Promise<string> {
  let received: Buffer = Buffer.alloc(0)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onReadable = () => {
    const chunk = egress.read() as Buffer | null
    if (chunk === null) return
    received = Buffer.concat([received, chunk])
    const end = received.indexOf(HEAD_END)
    if (end === -1) {
      if (received.length > MAX_ANSWER_BYTES) reject(new Error('The head of the answer is too long'))
      return
    }
    const rest = received.subarray(end + HEAD_END.length)
    if (rest.length > 0) egress.unshift(rest)
    resolve(received.toString('latin1', 0, end))
  }
  const onClose = () => reject(new Error('Closed'))
  egress.on('readable', onReadable)
  egress.once('close', onClose)
  try {
    return await promise
  } finally {
    egress.off('readable', onReadable)
    egress.off('close', onClose)
  }
}
