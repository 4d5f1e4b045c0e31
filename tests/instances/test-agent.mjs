// Stands in for the agent: dials the server, runs what a test asks for, and ends with its lease.
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { createRequire } from 'node:module'

const LINK = '/run/berth/link.sock'
const SPARES = 2
const start = JSON.parse(process.argv[2])
const AsyncFunction = (async () => {}).constructor

let lease
function renew() {
  clearTimeout(lease)
  lease = setTimeout(() => process.exit(0), start.leaseSeconds * 1000)
}
renew()

const api = createServer(async (request, response) => {
  renew()
  let body = ''
  for await (const chunk of request) body += chunk
  try {
    const result = await new AsyncFunction('require', body)(createRequire(import.meta.url))
    response.end(JSON.stringify({ result }))
  } catch (error) {
    response.end(JSON.stringify({ error: error.code ?? error.message }))
  }
})

function dial() {
  const socket = connect(LINK)
  let isUsed = false
  socket.on('error', () => {})
  socket.once('data', (chunk) => {
    isUsed = true
    dial()
    const end = chunk.indexOf('\n')
    const purpose = chunk.toString('utf8', 0, end)
    if (chunk.length > end + 1) socket.unshift(chunk.subarray(end + 1))
    if (purpose === 'api') api.emit('connection', socket)
    // Anything else comes back as it is.
    else socket.pipe(socket)
  })
  socket.once('close', () => {
    if (!isUsed) setTimeout(dial, 50)
  })
}
for (let index = 0; index < SPARES; index++) dial()
