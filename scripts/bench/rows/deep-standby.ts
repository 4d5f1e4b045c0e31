// Deep standby: what a session takes while its memory is in swap, how long its first command takes, and what sessions that
// fall asleep and wake cost one that works.
import assert from 'node:assert/strict'
import { freemem } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { EncryptedFile } from '@berth/server/instances/local/swap/encrypted-file'
import { haveSwap, swapFile, whyNoDeepStandby, whyNoZram } from '../../../tests/fixtures/swap.ts'
import { compare, type Compared, type Measuring } from '../measure/compare.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import { cpuMsOf } from '../measure/processes.ts'
import { quantile } from '../measure/statistics.ts'
import { judgeValues, type ValueMetric } from '../measure/values.ts'
import { Cdp } from '../subjects/cdp.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import type { ProcessPlace, ProcessRow } from './row.ts'
import { LONG_TIMEOUT_SECONDS } from './standby-watch.ts'

const MB = 2 ** 20
const CREATES_AT_ONCE = 2
const DEEP_SECONDS = 1
const LOOK_EVERY_MS = 250
/** Moving the memory of one session takes a second or two. */
const DEEP_WITHIN_MS = 30_000
const DEEP_WITHIN_MS_EACH = 10_000
const ASLEEP_MS = 10_000
const WORK_MS = 12_000

/** What a page of an ordinary application has: some thousand elements, pictures, and objects. */
const REAL_PAGE = `(() => {
  const row = (n) => '<tr><td>' + n + '</td><td><a href="#' + n + '">Order ' + n * 7919 % 100003 + '</a></td><td>'
    + 'lorem ipsum dolor sit amet '.repeat(4) + '</td></tr>'
  document.body.innerHTML = '<table>' + Array.from({ length: 3000 }, (_, n) => row(n)).join('') + '</table>'
  for (let n = 0; n < 8; n++) {
    const canvas = document.body.appendChild(document.createElement('canvas'))
    canvas.width = canvas.height = 400
    const context = canvas.getContext('2d')
    for (let x = 0; x < 400; x += 4) {
      context.fillStyle = 'hsl(' + (x * 7 + n * 40) % 360 + ' 70% 50%)'
      context.fillRect(x, x * n % 400, 40, 40)
    }
  }
  globalThis.orders = Array.from({ length: 60000 }, (_, id) => ({ id, name: 'order ' + id * 31, total: Math.random() * id }))
  return document.querySelectorAll('td').length
})()`

/** A few milliseconds of what pages do. */
const WORK = `(() => {
  const list = document.createElement('ul')
  for (let n = 0; n < 200; n++) list.appendChild(document.createElement('li')).textContent = 'item ' + n
  document.body.appendChild(list)
  const height = list.offsetHeight
  list.remove()
  return height > 0
})()`

export const deepStandbyRow: ProcessRow = {
  number: 17,
  title: 'Deep standby: memory, first command, and the sessions beside it',
  whySkipped: () => whyNoSessions() ?? whyNoDeepStandby(),
  async *measureProcesses(place, measuring) {
    await haveSwap(place.cleanup)
    const noZram = whyNoZram()
    if (noZram === undefined) yield* onZram(place, measuring)
    else yield { results: [], samples: [], skipped: [`deep standby on zram: ${noZram}`] }
    yield* onDisk(place, measuring)
  },
}

async function* onZram({ servers }: ProcessPlace, measuring: Measuring): AsyncIterable<Compared> {
  const { effort, signal } = measuring
  const server = await servers.fresh({ deepStandby: { swap: 'zram', seconds: DEEP_SECONDS } })
  const freeBefore = freemem()
  const sessions = await createAll(server, effort.deepSessions)
  await allDeep(server, sessions, signal)
  const residentMb = await residentMbOf(server, sessions)
  const hostMb = (freeBefore - freemem()) / MB / sessions.length
  const cpu = await asleepPercent(server, { effort, signal })
  const count = `${sessions.length} sessions in deep standby`
  yield judgeValues(
    [
      { ...line(`${count}: resident of one, p95`, 'residentMb', 'MB'), quantile: 0.95, goal: atMost(40) },
      line(`${count}: memory of the host for one, zram and all else included`, 'hostMb', 'MB'),
      { ...line(`${count}: CPU of the instances`, 'cpu', '% of a core'), goal: atMost(0) },
    ],
    [{ residentMb, hostMb, cpu }],
  )
  yield* wakes('zram', { server, sessions, goalMs: 700, measuring })
  const left = Math.min(effort.deepNeighbours, sessions.length)
  for (const browser of sessions.splice(left)) await server.delete(browser)
  yield* beside(server, sessions, measuring)
  for (const browser of sessions) await server.delete(browser)
  await servers.close()
}

async function* onDisk({ cleanup, servers }: ProcessPlace, measuring: Measuring): AsyncIterable<Compared> {
  const { effort, signal } = measuring
  await servers.close()
  const whyPlain = new EncryptedFile({ bytes: MB }).whyNot()
  const swap = whyPlain === undefined ? 'file' : swapFile(cleanup, { megabytes: 8192 })
  const server = await servers.fresh({ deepStandby: { swap, seconds: DEEP_SECONDS } })
  const sessions = await createAll(server, Math.min(effort.deepSessions, effort.deepNeighbours))
  await allDeep(server, sessions, signal)
  const name = whyPlain === undefined ? 'an encrypted swap file' : 'a swap file, not encrypted here'
  yield* wakes(name, { server, sessions, goalMs: 1500, measuring })
  for (const browser of sessions) await server.delete(browser)
  await servers.close()
}

interface Wakes {
  readonly server: SessionServer
  readonly sessions: readonly Browser[]
  readonly goalMs: number
  readonly measuring: Measuring
}

/** One after another, each after it was in deep standby. */
async function* wakes(
  place: string,
  { server, sessions, goalMs, measuring: { effort, signal } }: Wakes,
): AsyncIterable<Compared> {
  const firstMs: number[] = []
  const stateMs: number[] = []
  for (let wake = 0; wake < effort.deepWakes; wake++) {
    const browser = sessions[wake % sessions.length]!
    await untilDeep(server, browser, { withinMs: DEEP_WITHIN_MS * 2, signal })
    const startedAt = performance.now()
    const cdp = await Cdp.open(browser.cdp_ws_url)
    await cdp.call('Browser.getVersion')
    firstMs.push(performance.now() - startedAt)
    const page = await Page.attach(cdp)
    assert.equal(await page.evaluate('orders.length'), 60_000, 'the page is as it was')
    stateMs.push(performance.now() - startedAt)
    await page.close()
  }
  yield judgeValues(
    [
      {
        ...line(`First command after deep standby, ${place}, p95`, 'firstMs', 'ms'),
        quantile: 0.95,
        goal: atMost(goalMs),
      },
      { ...line(`Page state read after deep standby, ${place}, p95`, 'stateMs', 'ms'), quantile: 0.95 },
    ],
    [{ firstMs, stateMs }],
  )
}

/** All neighbours wake at the start of a block, and fall asleep in it. */
async function* beside(
  server: SessionServer,
  neighbours: readonly Browser[],
  measuring: Measuring,
): AsyncIterable<Compared> {
  const { signal } = measuring
  const working = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
  const page = await Page.open(working.cdp_ws_url)
  await page.evaluate(REAL_PAGE)
  const work = async () => {
    const stepsMs: number[] = []
    const end = performance.now() + (measuring.effort.isJudged ? WORK_MS : 1_000)
    while (performance.now() < end) {
      const startedAt = performance.now()
      assert.equal(await page.evaluate(WORK), true)
      stepsMs.push(performance.now() - startedAt)
      await pause(10)
    }
    return { p95Ms: quantile(stepsMs, 0.95), p50Ms: quantile(stepsMs, 0.5) }
  }
  const metric = (what: string, reading: string): Metric => ({
    row: 17,
    name: `A working session beside ${neighbours.length} that wake and fall asleep: ${what}`,
    reading,
    unit: 'ms',
    digits: 2,
    judged: 'ratio',
  })
  await allDeep(server, neighbours, signal)
  yield await compare(
    {
      blocks: {
        ours: async () => {
          const waking = (async () => {
            for (const neighbour of neighbours) await wakeOne(neighbour)
          })()
          const readings = await work()
          await waking
          return readings
        },
        baseline: async () => {
          await allDeep(server, neighbours, signal)
          return work()
        },
      },
      pairs: measuring.effort.deepPairs,
      metrics: [
        { ...metric('p95 of a step', 'p95Ms'), goal: atMost(1.3) },
        metric('median of a step', 'p50Ms'),
      ],
      isRestless: true,
    },
    measuring,
  )
  await page.close()
  await server.delete(working)
}

async function wakeOne(browser: Browser): Promise<void> {
  const page = await Page.open(browser.cdp_ws_url)
  await page.close()
}

function line(name: string, reading: string, unit: string): ValueMetric {
  return { row: 17, name, reading, unit, digits: unit === 'ms' ? 0 : 1 }
}

async function createAll(server: SessionServer, count: number): Promise<Browser[]> {
  const sessions: Browser[] = []
  let left = count
  const create = async () => {
    while (left-- > 0) {
      const browser = await server.create({ headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS })
      const page = await Page.open(browser.cdp_ws_url)
      assert.equal(await page.evaluate(REAL_PAGE), 9_000)
      await page.close()
      sessions.push(browser)
    }
  }
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, create))
  return sessions
}

async function allDeep(
  server: SessionServer,
  sessions: readonly Browser[],
  signal: AbortSignal,
): Promise<void> {
  const withinMs = DEEP_WITHIN_MS + DEEP_WITHIN_MS_EACH * sessions.length
  for (const browser of sessions) await untilDeep(server, browser, { withinMs, signal })
}

async function untilDeep(
  server: SessionServer,
  { session_id: id }: Browser,
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + withinMs
  while ((await server.get(id)).standby !== 'deep') {
    assert.ok(performance.now() < deadline, 'the unused session did not go into deep standby in time')
    await pause(LOOK_EVERY_MS, undefined, { signal })
  }
}

async function residentMbOf(server: SessionServer, sessions: readonly Browser[]): Promise<number[]> {
  const all = await Promise.all(sessions.map(({ session_id: id }) => server.get(id)))
  return all.map(({ usage }) => usage!.resident_bytes! / MB)
}

async function asleepPercent(
  server: SessionServer,
  { effort, signal }: Pick<Measuring, 'effort' | 'signal'>,
): Promise<number> {
  const inside = [...server.processes().instances.values()].flat()
  const ms = effort.isJudged ? ASLEEP_MS : 500
  const before = cpuMsOf(inside)
  await pause(ms, undefined, { signal })
  return ((cpuMsOf(inside) - before) / ms) * 100
}
