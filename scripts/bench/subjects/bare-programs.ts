// The baseline for programs: Node's child_process with nothing around it, in its own process, on the same core as
// the server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request over IPC for the time from start to first byte of each run. */
export interface FirstByteOrder {
  readonly command: readonly [string, ...string[]]
  readonly count: number
}

/** GET /output/<bytes> streams the output of a program in base 64, one event per chunk. */
const server = createServer((request, response) => {
  const bytes = request.url!.split('/').at(-1)!
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const { stdout } = spawn('head', ['-c', bytes, '/dev/zero'], { stdio: ['ignore', 'pipe', 'ignore'] })
  stdout.on('data', (chunk: Buffer) => {
    const isTaken = response.write(`data: {"stream":"stdout","data_b64":"${chunk.toString('base64')}"}\n\n`)
    if (!isTaken) stdout.pause()
  })
  response.on('drain', () => stdout.resume())
  stdout.on('end', () => response.end('data: {"event":"exit","exit_code":0}\n\n'))
})

async function firstBytes({ command: [file, ...args], count }: FirstByteOrder): Promise<number[]> {
  const elapsedMs: number[] = []
  for (let run = 0; run < count; run++) {
    const startedAt = performance.now()
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const closed = once(child, 'close')
    await once(child.stdout, 'data')
    elapsedMs.push(performance.now() - startedAt)
    await closed
  }
  return elapsedMs
}

process.on('message', (order: FirstByteOrder) => {
  void firstBytes(order).then(
    (elapsedMs) => process.send!({ elapsedMs }),
    (error: unknown) => process.send!({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => {
  process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
