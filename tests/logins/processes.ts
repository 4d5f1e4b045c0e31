// Starts programs: run() waits until the program ends, serve() keeps it running until the owner cleans up.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'

const INSTALL_TIMEOUT_MS = 600_000
const READY_TIMEOUT_MS = 60_000
const END_TIMEOUT_MS = 5_000
const MAX_OUTPUT = 4_000

interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Returns the output. If the program fails, the error contains its stderr. */
export async function run({ command, args, cwd, env }: Command): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: INSTALL_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout
}

/** Starts a server in its own process group and waits for its first answer. */
export async function serve(owner: Owner, command: Command, url: string): Promise<void> {
  const child = spawn(command.command, command.args, {
    cwd: command.cwd,
    env: { ...process.env, ...command.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-MAX_OUTPUT)
    })
  }
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${command.command} ended with code ${code}:\n${output}`)))
  })
  // The race below reports a failed start. A later exit is expected and must not be an unhandled rejection.
  failed.catch(() => {})
  cleanUpAfter(owner, () => end(child))
  await Promise.race([answers(url, () => output), failed])
}

async function answers(url: string, output: () => string): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS
  for (;;) {
    try {
      await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(5_000) })
      return
    } catch {
      if (performance.now() > deadline)
        throw new Error(`The server did not answer at ${url} in time:\n${output()}`)
      await delay(100)
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), END_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}
