// Runs the bundled agent as an instance would, but outside of one: as an ordinary user, with sockets
// and ports of the test's own.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { request } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AgentStart, AgentState, LinkPurpose } from '@berth/contracts/link'
import { bundleAgent, bundlePlaywrightRunner } from '../../build.ts'
import { CdpConnection } from '../chromium/cdp-connection.ts'
import type { Overrides } from '../settings.ts'

/** Chromium refuses to run as root. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

export const HEADLESS = { headless: true, width: 1280, height: 720, kiosk: false }
export const HEADFUL = { ...HEADLESS, headless: false }

interface Program {
  readonly node: string
  readonly file: string
}
let bundled: Promise<Program> | undefined

async function bundleOnce(): Promise<Program> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-agent-bundle-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  chmodSync(directory, 0o755)
  const file = join(directory, 'agent.mjs')
  await bundleAgent(file)
  await bundlePlaywrightRunner(join(directory, 'playwright.cjs'))
  const node = isRoot && !isForEverybody(process.execPath) ? join(directory, 'node') : process.execPath
  if (node !== process.execPath) copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE)
  return { node, file }
}

/** Nobody cannot enter a clone below /root, and so not run the Node in it. */
function isForEverybody(path: string): boolean {
  const parent = dirname(path)
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isForEverybody(parent))
}

export interface AgentOptions extends Partial<AgentStart> {
  readonly hostLoopback?: boolean
  /** A display keeps files in /tmp, which is not everybody's outside of an instance. */
  readonly hasOwnTmp?: boolean
}

/** A test, or whoever else ends what it starts. */
export interface Owner {
  after(act: () => Promise<void>): void
  readonly passed?: boolean
}

export class AgentUnderTest {
  readonly directory: string
  readonly ports: { devtools: number; proxy: number }
  readonly process: ChildProcess
  output = ''
  readonly #idle: Socket[] = []
  readonly #waiting: ((socket: Socket) => void)[] = []
  #link: Server | undefined

  private constructor(directory: string, ports: { devtools: number; proxy: number }, child: ChildProcess) {
    this.directory = directory
    this.ports = ports
    this.process = child
    child.stderr!.on('data', (chunk: Buffer) => (this.output += chunk.toString()))
  }

  static async start(t: Owner, options: AgentOptions = {}): Promise<AgentUnderTest> {
    const { node, file } = await (bundled ??= bundleOnce())
    const directory = mkdtempSync(join(tmpdir(), 'berth-agent-'))
    const home = join(directory, 'home')
    mkdirSync(home)
    const ports = { devtools: await freePort(), proxy: await freePort() }
    const overrides: Overrides = {
      linkSocket: join(directory, 'link.sock'),
      egressSocket: join(directory, 'egress.sock'),
      home,
      temporary: home,
      playwrightRunner: join(dirname(file), 'playwright.cjs'),
      display: 100 + (ports.devtools % 10_000),
      ports,
    }
    if (isRoot) for (const path of [directory, home]) chownSync(path, NOBODY, NOBODY)
    const { hasOwnTmp = false, ...start } = { leaseSeconds: 60, ...options }
    const wrapper = hasOwnTmp ? ownTmp([directory, dirname(file)]) : []
    const command = [...wrapper, node, file, JSON.stringify(start), JSON.stringify(overrides)]
    const child = spawn(command[0]!, command.slice(1), {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: '/usr/bin:/bin' },
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    })
    const agent = new AgentUnderTest(directory, ports, child)
    await agent.listen()
    t.after(() => agent.#end(t))
    return agent
  }

  /** The server's side of the link comes up. */
  async listen(): Promise<void> {
    const path = join(this.directory, 'link.sock')
    rmSync(path, { force: true })
    const link = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('close', () => {
        const index = this.#idle.indexOf(socket)
        if (index !== -1) this.#idle.splice(index, 1)
      })
      const next = this.#waiting.shift()
      if (next) next(socket)
      else this.#idle.push(socket)
    })
    link.listen(path)
    await once(link, 'listening')
    chmodSync(path, 0o777)
    this.#link = link
  }

  /** And goes away, as when a server is killed. */
  hangUp(): void {
    this.#link?.close()
    rmSync(join(this.directory, 'link.sock'), { force: true })
    for (const socket of this.#idle.splice(0)) socket.destroy()
  }

  get idleLinks(): number {
    return this.#idle.length
  }

  /** A connection on which nothing was written yet. */
  async takeLink(): Promise<Socket> {
    return this.#idle.shift() ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  async connect(purpose: LinkPurpose): Promise<Socket> {
    const socket = await this.takeLink()
    socket.write(`${purpose}\n`)
    return socket
  }

  async call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const { status, bytes } = await this.callForBytes(method, path, body)
    return { status, body: bytes.length === 0 ? undefined : (JSON.parse(bytes.toString()) as unknown) }
  }

  async callForBytes(
    method: string,
    path: string,
    body?: unknown,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<{ status: number; bytes: Buffer }> {
    const socket = await this.connect('api')
    const sent = request({
      createConnection: () => socket,
      method,
      path,
      headers: { connection: 'close', 'content-type': 'application/json' },
      ...(signal && { signal }),
    })
    sent.end(typeof body === 'string' ? body : body && JSON.stringify(body))
    const [answer] = (await once(sent, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }]
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk)
    return { status: answer.statusCode, bytes: Buffer.concat(chunks) }
  }

  async state(after?: number): Promise<AgentState> {
    const { body } = await this.call('GET', after === undefined ? '/state' : `/state?after=${after}`)
    return body as AgentState
  }

  async until(isTrue: (state: AgentState) => boolean): Promise<AgentState> {
    let state = await this.state()
    while (!isTrue(state)) state = await this.state(state.number)
    return state
  }

  ready(): Promise<AgentState> {
    return this.until(({ browser }) => browser === 'ready' || browser === 'failed')
  }

  /** Over a TCP port of its own that leads through the link, as the client cannot be given a socket. */
  async openCdp(): Promise<CdpConnection> {
    const { devtools_path: path } = await this.ready()
    return this.#openCdp(path!)
  }

  /** Connects while Chromium is being started again, and waits for it on the link. */
  async openCdpAfter(restarts: number): Promise<CdpConnection> {
    await this.until((state) => state.restarts === restarts)
    const early = await this.connect('cdp')
    const { devtools_path: path } = await this.ready()
    return this.#openCdp(path!, early)
  }

  async #openCdp(path: string, link: Socket | Promise<Socket> = this.connect('cdp')): Promise<CdpConnection> {
    const carry = async (client: Socket) => {
      const socket = await link
      client.pipe(socket).pipe(client)
      client.on('error', () => socket.destroy())
      socket.on('close', () => client.destroy())
    }
    const server = createServer((client) => void carry(client))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const cdp = await CdpConnection.open((server.address() as AddressInfo).port, path)
    server.close()
    return cdp
  }

  async #end(t: Owner): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGTERM')
      await once(this.process, 'exit')
    }
    // In an instance its namespace would take all of it along.
    if (this.process.signalCode === 'SIGKILL') endAllOf(this.directory)
    this.hangUp()
    if (t.passed === false) process.stderr.write(this.output)
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

/** Whatever was started with files in there. */
function endAllOf(directory: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isOfIt = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`${directory}/`)
      if (isOfIt) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // Gone already.
    }
  }
}

function ownTmp(kept: readonly string[]): string[] {
  const binds = kept.flatMap((path) => ['--bind', path, path])
  return [
    'bwrap',
    '--dev-bind',
    '/',
    '/',
    '--perms',
    '1777',
    '--tmpfs',
    '/tmp',
    ...binds,
    '--unshare-pid',
    '--die-with-parent',
  ]
}

const FIRST_PORT = 10_000
/** From there on the kernel gives ports to whoever asks for any, and one that is free now would not be for long. */
const FIRST_PORT_OF_ANYBODY = 32_768

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, FIRST_PORT_OF_ANYBODY)
    const server = createServer()
    const isFree = new Promise<boolean>((resolve) => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false))
    })
    server.listen(port, '127.0.0.1')
    if (!(await isFree)) continue
    server.close()
    return port
  }
}
