// Instances that are none: an agent's answers without an agent, and a browser that takes connections and
// never says a word. For tests of what surrounds instances, which would otherwise each start a Chromium.
import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { duplexPair, type Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { zstdDecompressSync } from 'node:zlib'
import { PROFILE_DIRECTORY } from '@berth/contracts/profile-archive'
import { TAR_END, tarHead } from '@berth/codecs/tar/writer'
import { relay, type AgentState, type LinkPurpose } from '@berth/contracts/link'
import { operations } from '@berth/contracts/operations'
import { RECORDS_WAIT_MS } from '@berth/contracts/recording'
import type { Driver, Instance, InstanceEnd, InstanceOptions } from '../driver.ts'
import { sampleOf } from './sample.ts'

export class FakeDriver implements Driver {
  readonly capabilities = { headful: true, gpu: false, freeze: true, locales: new Set(['en-US', 'de']) }
  readonly shortcomings: readonly string[] = []

  async start({ id }: InstanceOptions, signal?: AbortSignal): Promise<Instance> {
    signal?.throwIfAborted()
    return new FakeInstance(id)
  }

  /** They are in the memory of their server, and gone with it. */
  adopt(): Promise<Instance[]> {
    return Promise.resolve([])
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

class FakeInstance implements Instance {
  readonly id: string
  readonly traffic = { sent: 0, received: 0 }
  readonly ended: Promise<InstanceEnd>
  readonly #end = Promise.withResolvers<InstanceEnd>()
  readonly #agent = createServer((request, response) => {
    if (/^\/profile\b/.test(request.url ?? '')) this.#answerProfile(request, response)
    else answer(request, response)
  })
  #userData = Buffer.concat([
    tarHead({ path: PROFILE_DIRECTORY, kind: 'directory', size: 0, mtimeSeconds: 0 }),
    TAR_END,
  ])
  readonly #browser = createServer(answerAsBrowser).on('upgrade', (request, socket) => {
    acceptWebSocket(socket, request.headers['sec-websocket-key'] ?? '')
  })
  readonly #streams = new Set<Duplex>()
  #isFrozen = false

  constructor(id: string) {
    this.id = id
    this.ended = this.#end.promise
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  connect(purpose: LinkPurpose): Promise<Duplex> {
    // Tests of who is let in look for this line.
    if (purpose !== 'api') process.stderr.write(`fake instance ${this.id}: ${purpose} connection\n`)
    const [ours, theirs] = duplexPair()
    for (const stream of [ours, theirs]) {
      this.#streams.add(stream)
      stream.once('close', () => this.#streams.delete(stream))
    }
    if (purpose === 'screen') theirs.resume()
    else (purpose === 'api' ? this.#agent : this.#browser).emit('connection', theirs)
    return Promise.resolve(Object.assign(ours, socketManners))
  }

  freeze(): Promise<void> {
    this.#isFrozen = true
    return Promise.resolve()
  }

  thaw(): Promise<void> {
    this.#isFrozen = false
    return Promise.resolve()
  }

  setRoute(): void {}

  setLimits(): Promise<void> {
    return Promise.resolve()
  }

  setBackground(): Promise<void> {
    return Promise.resolve()
  }

  setOpenings(): void {}

  endureOom(): void {}

  /** Gives what it was given. */
  readonly #answerProfile: RequestListener = (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/x-tar' }).end(this.#userData)
      return
    }
    const take = async () => {
      const bytes = await buffer(request)
      if (request.method === 'PUT') this.#userData = zstdDecompressSync(bytes)
      response.writeHead(204).end()
    }
    take().catch(() => response.destroy())
  }

  async destroy(): Promise<void> {
    for (const stream of this.#streams) stream.destroy()
    this.#end.resolve('destroyed')
    await this.ended
  }
}

/** What node:http does to sockets that wait for their next request. */
const socketManners = { ref: () => {}, unref: () => {}, setKeepAlive: () => {}, setTimeout: () => {} }

const state: AgentState = {
  number: 1,
  browser: 'ready',
  devtools_path: '/devtools/browser/none',
  browser_version: 'Fake/1',
  restarts: 0,
  failure: null,
  processes: 0,
  viewers: 0,
}

const answerAsBrowser: RequestListener = (request, response) => {
  const page = { id: 'AB12', type: 'page', webSocketDebuggerUrl: 'ws://127.0.0.1/devtools/page/AB12' }
  const version = { Browser: 'Fake/1', webSocketDebuggerUrl: `ws://127.0.0.1${state.devtools_path}` }
  response.end(JSON.stringify(request.url === '/json/list' ? [page] : version))
}

/** RFC 6455, section 4.2.2. */
function acceptWebSocket(socket: Duplex, key: string): void {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    const isCloseFrame = (chunk[0]! & 0x0f) === 8
    if (isCloseFrame) socket.end()
  })
}

const controls = operations.flatMap((operation) => {
  if (operation.sessionPath === undefined) return []
  return [
    {
      operation,
      pattern: new RegExp(`^/control${operation.sessionPath.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`),
    },
  ]
})

/** Every source has one app with one action, which says a word and is done. */
function appAnswer(method: string | undefined, url: string): string | undefined {
  if (url === '/apps/build') {
    const apps = [{ name: 'sample', actions: [{ name: 'sample' }] }]
    return `${JSON.stringify({ built: { runtime: 'node', registry: { apps } } })}\n`
  }
  if (method !== 'GET') return undefined
  if (url === '/apps/files') return 'files of an app'
  if (!url.startsWith('/apps/runs/')) return undefined
  return JSON.stringify({
    records: [
      { n: 1, log: 'sample' },
      { n: 2, end: { output: '"done"' } },
    ],
  })
}

const answer: RequestListener = (request, response) => {
  request.resume()
  const { url = '', method } = request
  // Nothing is ever recorded, as nothing moves; who waits for it waits.
  if (method === 'GET' && url.startsWith('/recordings/')) {
    setTimeout(() => response.end(), RECORDS_WAIT_MS).unref()
    return
  }
  const app = appAnswer(method, url)
  if (app !== undefined) return void request.once('end', () => response.end(app))
  // Nothing ever happens in it.
  if (method === 'GET' && url.startsWith('/telemetry')) return response.writeHead(200).flushHeaders()
  const control = controls.find(({ operation, pattern }) => operation.method === method && pattern.test(url))
  const isState = /^\/(state|browser|client|lease)\b/.test(url)
  const { response: schema } = control?.operation ?? {}
  const value = isState ? state : schema && sampleOf(schema)
  // Only when all of it is there, as an agent that uses it would.
  request.once('end', () => {
    const relayed = control?.operation.kind === 'relay' && { [relay.status]: '200' }
    response.writeHead(value === undefined ? 204 : 200, { 'content-type': 'application/json', ...relayed })
    response.end(value === undefined ? undefined : `${JSON.stringify(value)}\n`)
  })
}
