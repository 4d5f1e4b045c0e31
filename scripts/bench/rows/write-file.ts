import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { bareEnv } from '../subjects/bare.ts'
import { nextMessage } from '../subjects/next-message.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import type { Cleanup } from '../cleanup.ts'
import { compare } from '../measure/compare.ts'
import { pin, type Cores } from '../measure/cores.ts'
import { atLeast, atMost, type Metric } from '../measure/metric.ts'
import { cpuMsOf, serverRssBytesOf } from '../measure/processes.ts'
import { agentOf } from './agent-of.ts'
import type { ProcessRow } from './row.ts'

const MB = 1024 * 1024
const PIECE = Buffer.alloc(MB, 'file ')
const LOOK_EVERY_MS = 10
const PATH = '/home/kernel/written'

export const writeFileRow: ProcessRow = {
  number: 31,
  title: 'Write a file into a session, against node:http into a file',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores, servers }, measuring) {
    const { filePairs: pairs, fileMegabytes: megabytes } = measuring.effort
    const server = await servers.one({})
    const browser = await server.create({ headless: true, timeout_seconds: 3600 })
    await server.settled({ sessions: 1 })
    const { daemon, instances } = server.processes()
    const agent = agentOf([...instances.values()].flat())
    const bare = await startBare(cleanup, cores)
    const session = `${browser.base_url}/fs`
    const jwt = new URL(browser.cdp_ws_url).searchParams.get('jwt')!
    const http = new Agent({ keepAlive: true })
    cleanup.after(() => http.destroy())

    const ours = async () => {
      const url = `${session}/write_file?path=${PATH}&jwt=${jwt}`
      const readings = await write(url, { http, megabytes, pids: [...daemon, agent], server: server.pid })
      const info = await fetch(`${session}/file_info?path=${PATH}&jwt=${jwt}`)
      assert.equal(((await info.json()) as { size_bytes: number }).size_bytes, megabytes * MB)
      const removed = await fetch(`${session}/delete_file?jwt=${jwt}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ path: PATH }),
      })
      assert.equal(removed.status, 200)
      return readings
    }
    const baseline = async () => {
      const readings = await write(`${bare.url}/?path=${bare.file}`, {
        http,
        megabytes,
        pids: [bare.pid],
        server: bare.pid,
      })
      assert.equal(statSync(bare.file).size, megabytes * MB)
      rmSync(bare.file)
      return readings
    }
    yield await compare({ blocks: { ours, baseline }, pairs, metrics: metricsOf(megabytes) }, measuring)
    await server.delete(browser)
  },
}

function metricsOf(megabytes: number): Metric[] {
  const line = (what: string, reading: string, unit: string): Metric => ({
    row: 31,
    name: `write_file ${megabytes} MB${what}`,
    reading,
    unit,
    digits: 0,
    judged: 'ratio',
  })
  return [
    { ...line('', 'perSecond', 'MB/s'), goal: atLeast(0.7, 0.9) },
    {
      ...line(', RSS growth of the server', 'grownMb', 'MB'),
      judged: 'value',
      isOursOnly: true,
      goal: atMost(48),
    },
    line(', CPU with the agent', 'cpuMs', 'ms'),
  ]
}

interface Bare {
  readonly url: string
  readonly pid: number
  readonly file: string
}

async function startBare(cleanup: Cleanup, cores: Cores): Promise<Bare> {
  const directory = mkdtempSync('/dev/shm/berth-bench-')
  cleanup.after(() => rmSync(directory, { recursive: true, force: true }))
  const child = fork(join(import.meta.dirname, '../subjects/bare-files.ts'), {
    execArgv: [],
    env: bareEnv({}),
  })
  cleanup.after(() => child.kill())
  const url = (await nextMessage(child)) as string
  pin([child.pid!], cores.server)
  return { url, pid: child.pid!, file: join(directory, 'written') }
}

async function write(
  url: string,
  {
    http,
    megabytes,
    pids,
    server,
  }: { http: Agent; megabytes: number; pids: readonly number[]; server: number },
): Promise<Record<string, number>> {
  const cpuBefore = cpuMsOf(pids)
  const rssBefore = serverRssBytesOf(server)
  let peak = rssBefore
  const looking = setInterval(() => (peak = Math.max(peak, serverRssBytesOf(server))), LOOK_EVERY_MS)
  const startedAt = performance.now()
  assert.equal(await put(url, { http, megabytes }), 201)
  const seconds = (performance.now() - startedAt) / 1000
  clearInterval(looking)
  return {
    perSecond: megabytes / seconds,
    grownMb: (Math.max(peak, serverRssBytesOf(server)) - rssBefore) / MB,
    cpuMs: cpuMsOf(pids) - cpuBefore,
  }
}

/** Sends as fast as the server accepts; returns the status. */
function put(url: string, { http, megabytes }: { http: Agent; megabytes: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': megabytes * MB, 'content-type': 'application/octet-stream' }
    const sent = request(url, { agent: http, method: 'PUT', headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode!))
    })
    sent.on('error', reject)
    let left = megabytes
    const send = () => {
      while (left-- > 0) if (!sent.write(PIECE)) return void sent.once('drain', send)
      sent.end()
    }
    send()
  })
}
