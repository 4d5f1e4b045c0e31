// Starts the server as a reader does, with the command of the README, but with its own directory and port.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'

const root = join(import.meta.dirname, '../..')
const START_TIMEOUT_MS = 120_000

export interface StartedServer {
  readonly url: string
  readonly key: string
  output(): string
}

export async function startByCommand(
  owner: Owner,
  command: string,
  settings: Readonly<Record<string, string>> & { readonly BERTH_DATA_DIR: string },
): Promise<StartedServer> {
  const { PATH = '', HOME = '' } = process.env
  // It has its own process group, so that a signal reaches all its processes, like Ctrl-C.
  const child = spawn('bash', ['-c', command], {
    cwd: root,
    env: { PATH, HOME, BERTH_PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const interrupt = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT')
  }
  process.once('exit', interrupt)
  cleanUpAfter(owner, async () => {
    interrupt()
    await exited
    process.off('exit', interrupt)
  })
  let output = ''
  const ready = Promise.withResolvers<string>()
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
    const address = /^ {2}Address +(\S+)$/m.exec(output)
    if (address && output.includes('Try it:')) ready.resolve(address[1]!)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const timer = setTimeout(() => ready.reject(new Error(`Not ready in time:\n${output}`)), START_TIMEOUT_MS)
  try {
    const url = await Promise.race([
      ready.promise,
      exited.then((code) => {
        throw new Error(`"${command}" ended with code ${code} before the server was ready:\n${output}`)
      }),
    ])
    const key = readFileSync(join(settings.BERTH_DATA_DIR, 'api-key'), 'utf8').trim()
    return { url, key, output: () => output }
  } finally {
    clearTimeout(timer)
  }
}
