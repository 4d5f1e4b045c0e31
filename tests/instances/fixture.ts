// A driver with its own data directory, and programs inside its instances.
import { request } from 'node:http'
import { execFile } from 'node:child_process'
import { chmodSync, closeSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { after } from 'node:test'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildSync } from 'esbuild'
import { pino } from 'pino'
import { newId } from '@berth/kit/ids'
import type { Instance, InstanceOptions } from '@berth/server/instances/driver/driver'
import type { Egress } from '@berth/server/instances/local/egress'
import { LocalDriver, type LocalDriverOptions } from '@berth/server/instances/local/local-driver'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { removeDataDir } from '../fixtures/host.ts'

export { eventually, instanceGroups, processesOf } from '../fixtures/host.ts'

const MiB = 1024 * 1024
export const agentFile = bundleTestAgent()
export const execute = promisify(execFile)

/** One file, as the agent is: nothing else is bound into an instance. */
function bundleTestAgent(): string {
  const directory = mkdtempSync(join(tmpdir(), 'berth-test-agent-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  chmodSync(directory, 0o755)
  const outfile = join(directory, 'agent.mjs')
  const entry = fileURLToPath(new URL('test-agent.ts', import.meta.url))
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
  })
  return outfile
}

/** The reason why tests of real instances cannot run here, or false. */
export const skip = process.getuid!() === 0 ? false : 'instances are only safe, and only tested, as root'

/** Nothing answers there: no test here uses the network. */
export const silentEgress: Egress = {
  async listen(path) {
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => {
      server.listen(path, resolve)
    })
    return {
      traffic: { sent: 3, received: 4 },
      lastRefusal: undefined,
      setRoute: () => {},
      setProject: () => {},
      open: () => {},
      acceptArrivals: ({ fd }) => closeSync(fd),
      close: () => new Promise<void>((resolve) => server.close(() => resolve())),
    }
  },
}

/** Cleans up after all tests of the calling suite, including what they create while they run. */
export function suiteOwner(): Owner {
  const cleanups: (() => void | Promise<void>)[] = []
  after(async () => {
    for (const cleanup of cleanups) await cleanup()
  })
  return { after: (cleanup) => void cleanups.push(cleanup) }
}

export function makeDataDir(owner: Owner, parent = tmpdir()): string {
  const path = mkdtempSync(join(parent, 'berth-instances-'))
  cleanUpAfter(owner, () => removeDataDir(path))
  return path
}

interface DriverChanges {
  readonly dataDir?: string
  readonly leaseSeconds?: number
  readonly agent?: string
  readonly allowWeakIsolation?: boolean
  readonly nativeCalls?: string
  readonly otherPlaywrights?: readonly string[]
  readonly findGpus?: NonNullable<LocalDriverOptions['findGpus']>
}

export async function openDriver(
  owner: Owner,
  { dataDir = makeDataDir(owner), leaseSeconds = 60, agent = agentFile, ...weak }: DriverChanges = {},
): Promise<LocalDriver> {
  const driver = await LocalDriver.open({
    dataDir,
    agentFile: agent,
    leaseSeconds,
    allowWeakIsolation: false,
    ...weak,
    egress: silentEgress,
    log: pino({ level: process.env['BERTH_TEST_LOG'] ?? 'silent' }),
  })
  cleanUpAfter(owner, () => driver.close())
  return driver
}

export function instanceOptions(changes: Partial<InstanceOptions['limits']> = {}): InstanceOptions {
  return {
    id: newId(),
    limits: { memoryBytes: 512 * MiB, processes: 200, cpus: 1, homeBytes: 32 * MiB, ...changes },
    agent: { leaseSeconds: 60 },
    isBackground: false,
  }
}

export async function startInstance(
  owner: Owner,
  driver: LocalDriver,
  options = instanceOptions(),
): Promise<Instance> {
  const instance = await driver.start(options)
  cleanUpAfter(owner, () => instance.destroy())
  return instance
}

/** Runs the body of an async function inside, with `require`, and returns its result. */
export async function runInside<Result>(instance: Instance, code: string, waitMs = 20_000): Promise<Result> {
  const signal = AbortSignal.timeout(waitMs)
  const connection = await instance.connect('api', signal)
  return new Promise((resolve, reject) => {
    const call = request({ method: 'POST', createConnection: () => connection, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('error', reject)
      response.on('end', () => {
        connection.destroy()
        const { result, error } = JSON.parse(text) as { result: Result; error?: string }
        if (error === undefined) resolve(result)
        else reject(new Error(error))
      })
    })
    call.on('error', reject)
    call.end(code)
  })
}

/** Runs a shell command inside; returns its exit code and output. */
export function shellInside(
  instance: Instance,
  command: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return runInside(
    instance,
    `const { spawnSync } = require('node:child_process')
     const { status, stdout, stderr } = spawnSync('sh', ['-c', ${JSON.stringify(command)}], { encoding: 'utf8', timeout: 15000 })
     return { code: status, stdout, stderr }`,
  )
}
