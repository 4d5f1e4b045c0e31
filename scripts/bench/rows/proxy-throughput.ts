import { BareChromium } from '../subjects/bare-chromium.ts'
import type { Cdp } from '../subjects/cdp.ts'
import { Page } from '../subjects/page.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { atLeast, atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { onFreeCores } from '../measure/cores.ts'
import { cpuMsOf, treeOf } from '../measure/processes.ts'
import { agentOf } from './agent-of.ts'
import type { ProcessRow } from './row.ts'

/** Commands in flight at once. */
const PIPELINED = 64
const LARGE_BYTES = 5 * 1024 * 1024
const GOAL = atLeast(0.75, 0.95)
/** Larger than any id that the pages of this client use. */
const FIRST_ID = 1_000_000

export const proxyThroughputRow: ProcessRow = {
  number: 9,
  title: 'CDP throughput, against a direct websocket to a bare Chromium',
  whySkipped: whyNoSessions,
  async *measureProcesses(place, measuring) {
    const { throughputPairs: pairs, pumpSeconds: seconds } = measuring.effort
    const server = await place.servers.one({})
    const browser = await server.create({ headless: true })
    const chromium = await BareChromium.start(place.cleanup, { cores: place.cores.server, isHeadless: true })
    await Promise.all([server.settled({ sessions: 1 }), chromium.settled(measuring.effort)])
    const [ours, direct] = [await Page.open(browser.cdp_ws_url), await Page.open(chromium.wsUrl)]
    const { daemon, instances } = server.processes()
    const agent = agentOf([...instances.values()].flat())
    const whole = () => ({
      serverCpuUs: cpuUs(daemon),
      agentCpuUs: cpuUs([agent]),
      cpuUs: cpuUs([...daemon, ...[...instances.values()].flat()]),
    })
    const bare = () => ({ cpuUs: cpuUs(chromium.pids()) })

    const pipelined = {
      ours: pipelineBlock(ours.cdp, { seconds, cpu: whole }),
      baseline: pipelineBlock(direct.cdp, { seconds, cpu: bare }),
    }
    yield await compare(
      {
        blocks: pipelined,
        pairs,
        metrics: [
          { ...line('pipelined, messages', 'perSecond', '/s'), goal: GOAL },
          { ...oursOnly('pipelined, CPU of the server', 'serverCpuUs'), goal: atMost(20) },
          oursOnly('pipelined, CPU of the agent', 'agentCpuUs'),
          line('pipelined, CPU with the browser', 'cpuUs', 'µs/msg'),
        ],
      },
      measuring,
    )
    yield await onFreeCores(
      place.cores,
      () => [...treeOf(server.pid), ...chromium.pids()],
      () =>
        compare(
          {
            blocks: pipelined,
            pairs,
            metrics: [line('pipelined, messages, cores free', 'perSecond', '/s')],
          },
          measuring,
        ),
    )
    yield await compare(
      {
        blocks: {
          ours: largeBlock(ours, { seconds, cpu: whole }),
          baseline: largeBlock(direct, { seconds, cpu: bare }),
        },
        pairs,
        metrics: [
          { ...line('results of 5 MB', 'perSecond', '/s'), digits: 1, goal: GOAL },
          line('results of 5 MB, CPU with the browser', 'cpuUs', 'µs/msg'),
        ],
      },
      measuring,
    )
    await Promise.all([ours.close(), direct.close()])
    await server.delete(browser)
    await chromium.end()
  },
}

function line(what: string, reading: string, unit: string): Metric {
  return { row: 9, name: `CDP ${what}`, reading, unit, digits: 0, judged: 'ratio' }
}

function oursOnly(what: string, reading: string): Metric {
  return { ...line(what, reading, 'µs/msg'), digits: 1, judged: 'value', isOursOnly: true }
}

function cpuUs(pids: readonly number[]): number {
  return cpuMsOf(pids) * 1000
}

interface Load {
  readonly seconds: number
  /** CPU time so far, by process name. */
  readonly cpu: () => Readonly<Record<string, number>>
}

async function perMessage(cpu: Load['cpu'], work: () => Promise<Done>) {
  const before = cpu()
  const { messages, seconds } = await work()
  const after = cpu()
  const shares = Object.keys(after).map((name) => [name, (after[name]! - before[name]!) / messages])
  return { perSecond: messages / seconds, ...Object.fromEntries(shares) } as Record<string, number>
}

interface Done {
  readonly messages: number
  readonly seconds: number
}

function pipelineBlock(cdp: Cdp, { seconds, cpu }: Load): Block {
  return () => perMessage(cpu, () => pipeline(cdp, seconds))
}

/** Keeps the same number of commands in flight. Answers come in order; each is counted and checked. */
async function pipeline(cdp: Cdp, seconds: number): Promise<Done> {
  const { promise, resolve, reject } = Promise.withResolvers<Done>()
  const startedAt = performance.now()
  let sent = 0
  let answered = 0
  const send = () => cdp.socket.send(`{"id":${FIRST_ID + sent++},"method":"Browser.getVersion"}`)
  cdp.onMessage = (data) => {
    if (!data.includes('"protocolVersion"') || !data.includes(`"id":${FIRST_ID + answered}`)) {
      reject(new Error(`Unexpected answer: ${data.toString().slice(0, 200)}`))
      return
    }
    answered++
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs < seconds * 1000) send()
    else if (answered === sent) resolve({ messages: answered, seconds: elapsedMs / 1000 })
  }
  try {
    for (let count = 0; count < PIPELINED; count++) send()
    return await promise
  } finally {
    cdp.onMessage = undefined
  }
}

function largeBlock(page: Page, { seconds, cpu }: Load): Block {
  return () => perMessage(cpu, () => largeResults(page, seconds))
}

/** In sequence. */
async function largeResults({ cdp, sessionId }: Page, seconds: number): Promise<Done> {
  const { promise, resolve, reject } = Promise.withResolvers<Done>()
  const startedAt = performance.now()
  const expression = `'x'.repeat(${LARGE_BYTES})`
  let messages = 0
  const send = () => {
    const params = { expression, returnByValue: true }
    cdp.socket.send(JSON.stringify({ id: FIRST_ID, method: 'Runtime.evaluate', params, sessionId }))
  }
  cdp.onMessage = (data) => {
    const start = data.indexOf('"xxx') + 1
    if (start === 0 || data.lastIndexOf('x') - start + 1 !== LARGE_BYTES) {
      reject(new Error(`Unexpected result: ${data.toString('utf8', 0, 200)}`))
      return
    }
    messages++
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs < seconds * 1000) send()
    else resolve({ messages, seconds: elapsedMs / 1000 })
  }
  try {
    send()
    return await promise
  } finally {
    cdp.onMessage = undefined
  }
}
