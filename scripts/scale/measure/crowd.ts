// What sessions cost that are just there: memory, sockets, bytes on the link, processor time and statements, by their number.
import { execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { rssBytesOf } from '../../bench/measure/processes.ts'
import type { Owner } from '../../../tests/fixtures/cleanup.ts'
import type { TestServer } from '../../../tests/fixtures/server.ts'
import { createSession } from '../../../tests/fixtures/sessions.ts'
import type { Cost } from '../model/inputs.ts'
import { costPerSecond, Meter, resetStatements, statements, type Statement } from './meter.ts'
import { eventually, startRig, STILL, warmCount } from './rig.ts'

export interface Crowd {
  readonly sessions: number
  readonly warm: number
  readonly serverBytes: number
  readonly sockets: number
  /** Of all links together: TCP payload, and packets. */
  readonly linkBytesPerSecond: number
  readonly linkPacketsPerSecond: number
  /** For each window. */
  readonly costs: readonly Cost[]
}

export interface CrowdReadings {
  readonly crowds: Crowd[]
  /** Of the largest crowd. */
  readonly statements: Statement[]
}

export interface CrowdOptions {
  readonly steps: readonly number[]
  readonly windows: number
  readonly windowMs: number
  readonly settleMs: number
}

const CREATES_AT_ONCE = 8

export async function measureCrowd(owner: Owner, options: CrowdOptions): Promise<CrowdReadings> {
  const rig = await startRig(owner)
  const crowds: Crowd[] = []
  let server = await rig.startServer()
  crowds.push(await read(server, { sessions: 0, warm: 0 }))
  for (const step of options.steps) {
    const have = crowds.at(-1)!.sessions
    let left = step - have
    await Promise.all(
      Array.from({ length: CREATES_AT_ONCE }, async () => {
        while (left-- > 0) await createSession(server, STILL)
      }),
    )
    crowds.push(await read(server, { sessions: step, warm: 0 }))
  }
  await resetStatements(rig.sql)
  await pause(options.windowMs)
  const asked = await statements(rig.sql)
  await server.stop()
  const warm = options.steps[0]!
  server = await rig.startServer({ BERTH_WARM_HEADLESS: String(warm) })
  await eventually('the stock is full', async () => (await warmCount(server)) === warm)
  crowds.push(await read(server, { sessions: 0, warm }))
  await server.stop()
  return { crowds, statements: asked }

  async function read(of: TestServer, have: { sessions: number; warm: number }): Promise<Crowd> {
    await pause(options.settleMs)
    const meter = new Meter(rig, of)
    const costs: Cost[] = []
    const linkBefore = links()
    const startedAt = performance.now()
    for (let window = 0; window < options.windows; window++) {
      const before = await meter.read()
      await pause(options.windowMs)
      costs.push(costPerSecond(before, await meter.read()))
    }
    const linkAfter = links()
    const seconds = (performance.now() - startedAt) / 1000
    return {
      ...have,
      serverBytes: rssBytesOf(of.pid),
      sockets: linkAfter.sockets,
      linkBytesPerSecond: (linkAfter.bytes - linkBefore.bytes) / seconds,
      linkPacketsPerSecond: (linkAfter.packets - linkBefore.packets) / seconds,
      costs,
    }
  }
}

/** Of all connections to Pods, from the servers' side. */
function links(): { sockets: number; bytes: number; packets: number } {
  const text = execFileSync('ss', ['-tinH', 'state', 'established', 'dport', '=', ':7443'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const total = (name: string) =>
    text.matchAll(new RegExp(`\\b${name}:(\\d+)`, 'g')).reduce((sum, found) => sum + Number(found[1]), 0)
  return {
    sockets: [...text.matchAll(/:7443\b/g)].length,
    bytes: total('bytes_sent') + total('bytes_received'),
    packets: total('segs_out') + total('segs_in'),
  }
}
