// The baseline for writing files: node:http piped into a file. The file is in memory, like those of sessions.
import { createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'

const server = createServer((request, response) => {
  const path = new URL(request.url!, 'http://bare').searchParams.get('path')!
  pipeline(request, createWriteStream(path)).then(
    () => response.writeHead(201).end(),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
})

server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.on('disconnect', () => process.exit())
