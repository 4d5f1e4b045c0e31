// Starts a server, ours or the bare one, and waits for its first answer.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cleanup } from '../cleanup.ts'
import type { CoreList } from '../measure/cores.ts'
import { serverPids } from '../measure/processes.ts'
import { HttpClient } from './http-client.ts'

const LOOK_EVERY_MS = 2
const START_TIMEOUT_MS = 60_000

export interface Startable {
  /** By default the Node of this process. */
  readonly node?: string
  /** Its arguments. */
  readonly args: readonly string[]
  readonly env: (port: number) => NodeJS.ProcessEnv
}

export interface Started {
  readonly pid: number
  readonly url: string
  /** From the start of the process until /health was answered. */
  readonly startMs: number
  stop(): Promise<void>
  /** Kills the server and its keeper with SIGKILL. Resolves when a supervisor would start them again. */
  kill(): Promise<void>
}

/** Pinned from the start, with all its children. */
export async function startUntilHealthy(
  cleanup: Cleanup,
  { node = process.execPath, args, env }: Startable,
  cores: CoreList,
): Promise<Started> {
  const port = await freePort()
  const startedAt = performance.now()
  const pinned = ['taskset', '--cpu-list', cores, node, ...args]
  // If this run is killed, the server ends with it and does not disturb the next run.
  const child = spawn('setpriv', ['--pdeathsig', 'INT', ...pinned], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: env(port),
  })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const exited = once(child, 'exit')
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
    await exited
  }
  cleanup.after(stop)
  const kill = async () => {
    for (const pid of serverPids(child.pid!)) process.kill(pid, 'SIGKILL')
    await exited
  }

  const http = new HttpClient()
  try {
    while (!(await isHealthy(http, port))) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`Cannot start the server: it ended: ${complaints}`)
      if (performance.now() - startedAt > START_TIMEOUT_MS)
        throw new Error(`Cannot start the server: it did not become healthy in time: ${complaints}`)
      await pause(LOOK_EVERY_MS)
    }
    return {
      pid: child.pid!,
      url: `http://127.0.0.1:${port}`,
      startMs: performance.now() - startedAt,
      stop,
      kill,
    }
  } finally {
    http.close()
  }
}

async function isHealthy(http: HttpClient, port: number): Promise<boolean> {
  const url = `http://127.0.0.1:${port}/health`
  const answer = await http.send({ url, method: 'GET' }).catch(() => undefined)
  return answer?.status === 200 && (JSON.parse(answer.text) as { status: string }).status === 'ok'
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
