// The baseline on a cluster: a Pod with the Chromium of the same image, as kubectl starts it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cleanup } from '../cleanup.ts'

const LOOK_EVERY_MS = 20
const START_TIMEOUT_MS = 120_000
const DEVTOOLS = 9222
const FORWARDED = 9223

/** Chromium listens on the loopback of the Pod only. */
const program = `
const { spawn } = require('node:child_process')
const { connect, createServer } = require('node:net')
const flags = ['--headless', '--no-sandbox', '--user-data-dir=/tmp/profile', '--remote-debugging-port=${DEVTOOLS}']
spawn('/usr/lib/chromium/chromium', flags, { stdio: 'ignore' })
createServer((from) => {
  const to = connect(${DEVTOOLS}, '127.0.0.1')
  for (const socket of [from, to]) socket.on('error', () => {}).setNoDelay()
  from.pipe(to).pipe(from)
}).listen(${FORWARDED})`

const execute = promisify(execFile)
let count = 0

export class BarePod {
  readonly wsUrl: string
  readonly #remove: () => Promise<void>

  private constructor(wsUrl: string, remove: () => Promise<void>) {
    this.wsUrl = wsUrl
    this.#remove = remove
  }

  /** Resolves when the debugging port is open. */
  static async start(
    cleanup: Cleanup,
    { image, pullPolicy }: { image: string; pullPolicy: string },
  ): Promise<BarePod> {
    const name = `berth-bare-${process.pid}-${++count}`
    let isRemoved = false
    const remove = async () => {
      if (isRemoved) return
      isRemoved = true
      await kubectl('delete', 'pod', name, '--grace-period=0', '--force')
    }
    cleanup.after(remove)
    const of = [`--image=${image}`, `--image-pull-policy=${pullPolicy}`, '--restart=Never']
    await kubectl('run', name, ...of, '--command', '--', 'node', '-e', program)
    const deadline = performance.now() + START_TIMEOUT_MS
    for (;;) {
      const address = await kubectl('get', 'pod', name, '--output', 'jsonpath={.status.podIP}')
      const wsUrl = address && (await debuggerUrl(address))
      if (wsUrl) return new BarePod(wsUrl, remove)
      if (performance.now() > deadline) throw new Error(`Cannot start the bare Pod "${name}" in time`)
      await pause(LOOK_EVERY_MS)
    }
  }

  end(): Promise<void> {
    return this.#remove()
  }
}

/** Undefined while nothing answers. */
async function debuggerUrl(address: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://${address}:${FORWARDED}/json/version`, {
      signal: AbortSignal.timeout(1_000),
    })
    const { webSocketDebuggerUrl: url } = (await answer.json()) as { webSocketDebuggerUrl: string }
    return url
  } catch {
    return undefined
  }
}

async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await execute('kubectl', args)
  return stdout
}
