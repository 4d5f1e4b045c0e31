// What calls cost on a server that has much against one that has little: more sessions that live, and more that ended long
// ago. The servers run side by side and are measured in turns, so a drift of the machine affects all of them.
import { Cdp } from '../subjects/cdp.ts'
import { Page } from '../subjects/page.ts'
import { addPastSessions } from '../subjects/past-sessions.ts'
import { startOwnServer } from '../subjects/own-server.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import { compare, type Compared, type Measuring } from '../measure/compare.ts'
import { onFreeCores } from '../measure/cores.ts'
import { judge } from '../measure/judge.ts'
import { atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { pssBytesOf, serverRssBytesOf } from '../measure/processes.ts'
import { quantile } from '../measure/statistics.ts'
import { roundTrips } from './round-trip.ts'
import type { ProcessPlace, ProcessRow } from './row.ts'
import { LONG_TIMEOUT_SECONDS } from './standby-watch.ts'

const GOAL = atMost(1.5)
const MEBIBYTE = 1024 * 1024
/** The same for all servers, whatever there is to list. */
const PAGE_SIZE = 10
const CREATES_AT_ONCE = 4

export const liveGrowthRow: ProcessRow = {
  number: 48,
  title: 'Calls and memory with more live sessions, against few',
  whySkipped: whyNoSessions,
  async *measureProcesses(place, measuring) {
    const { liveSessions } = measuring.effort
    const sizes = liveSessions.map((live) => ({ live, past: 0 }))
    yield* compareSizes(place, measuring, {
      row: 48,
      sizes,
      nameOf: ({ live }) => `${live} live sessions`,
      memoryOf: (sized) => sized.liveMemoryMb(),
      memory: 'memory of each, with the server',
    })
  },
}

export const pastGrowthRow: ProcessRow = {
  number: 49,
  title: 'Calls and memory with more sessions that have ended, against few',
  whySkipped: whyNoSessions,
  async *measureProcesses(place, measuring) {
    const { pastSessions } = measuring.effort
    const sizes = pastSessions.map((past) => ({ live: 1, past }))
    yield* compareSizes(place, measuring, {
      row: 49,
      sizes,
      nameOf: ({ past }) => `${past} past sessions`,
      memoryOf: async ({ server }) => serverRssBytesOf(server.pid) / MEBIBYTE,
      memory: 'memory of the server',
    })
  },
}

interface Size {
  readonly live: number
  readonly past: number
}

interface Growth {
  readonly row: number
  /** The smallest first. */
  readonly sizes: readonly Size[]
  readonly nameOf: (size: Size) => string
  readonly memoryOf: (sized: Sized) => Promise<number>
  /** What that is. */
  readonly memory: string
}

async function* compareSizes(
  place: ProcessPlace,
  measuring: Measuring,
  { row, sizes, nameOf, memoryOf, memory }: Growth,
): AsyncIterable<Compared> {
  const { growthPairs: pairs, callsPerBlock: calls } = measuring.effort
  // Their instances would take memory that is measured here.
  await place.servers.close()
  const sized: Sized[] = []
  for (const size of sizes) sized.push(await Sized.start(place, measuring, size))
  const [few, ...others] = sized
  for (const many of others) {
    const line = (what: string, reading: string, unit = 'ms'): Metric => ({
      row,
      name: `${nameOf(many.size)}, against ${nameOf(few!.size)}: ${what}`,
      reading,
      unit,
      digits: unit === 'MB' ? 1 : 2,
      judged: 'ratio',
      goal: GOAL,
    })
    const metrics = [
      line('warm create until usable', 'createMs'),
      line('delete, until answered', 'deleteMs'),
      line('GET of one', 'getMs'),
      line('list', 'listMs'),
      line('list of those that ended', 'endedMs'),
      line('round trip of a CDP command', 'callMs'),
    ]
    const blocks = { ours: many.block(calls), baseline: few!.block(calls) }
    yield await onFreeCores(
      place.cores,
      () => [],
      () => compare({ blocks, pairs, metrics }, measuring),
    )
    const [ours, baseline] = [await memoryOf(many), await memoryOf(few!)]
    const samples = [{ ours: { memoryMb: ours }, baseline: { memoryMb: baseline } }]
    const metric = line(memory, 'memoryMb', 'MB')
    yield { results: [judge(metric, { clean: samples, all: samples, wanted: 1 })], samples }
  }
  for (const each of sized) await each.end()
}

/** A server with so many sessions. A client uses one of them; the others are on standby. */
class Sized {
  readonly size: Size
  readonly server: SessionServer
  readonly #id: string
  readonly #cdp: Cdp
  readonly #emptyMb: number

  private constructor(options: { size: Size; server: SessionServer; id: string; cdp: Cdp; emptyMb: number }) {
    this.size = options.size
    this.server = options.server
    this.#id = options.id
    this.#cdp = options.cdp
    this.#emptyMb = options.emptyMb
  }

  static async start(
    { cleanup, cores }: ProcessPlace,
    { effort, signal }: Measuring,
    size: Size,
  ): Promise<Sized> {
    const server = await startOwnServer(cleanup, {
      cores: cores.all,
      effort,
      settings: { warmHeadless: 1 },
      env: { BERTH_MAX_CONCURRENT_SESSIONS: String(size.live + CREATES_AT_ONCE) },
    })
    await server.settled()
    if (size.past > 0) await addPastSessions(server, size.past)
    const emptyMb = memoryMbOf(server)
    const wish = { headless: true, timeout_seconds: LONG_TIMEOUT_SECONDS }
    const urls = new Map<string, string>()
    while (urls.size < size.live) {
      signal.throwIfAborted()
      const count = Math.min(CREATES_AT_ONCE, size.live - urls.size)
      const made = await Promise.all(Array.from({ length: count }, () => server.create(wish)))
      for (const { session_id: id, cdp_ws_url: url } of made) urls.set(id, url)
    }
    const [[id, url]] = [...urls] as [[string, string]]
    const cdp = await Cdp.open(url)
    await server.settled({ sessions: size.live })
    return new Sized({ size, server, id, cdp, emptyMb })
  }

  /** One session made, used and deleted; then some of every other call. */
  block(calls: number): Block {
    return async () => {
      const { server, size } = this
      const startedAt = performance.now()
      const browser = await server.create({ headless: true })
      const page = await Page.open(browser.cdp_ws_url)
      const createMs = performance.now() - startedAt
      await page.close()
      const deleteMs = await server.delete(browser)
      await server.settled({ sessions: size.live })
      return {
        createMs,
        deleteMs,
        getMs: await this.#read(calls, `/browsers/${this.#id}`),
        listMs: await this.#read(calls, `/browsers?limit=${PAGE_SIZE}`),
        endedMs: await this.#read(calls, `/browsers?status=deleted&limit=${PAGE_SIZE}`),
        callMs: quantile(await roundTrips(this.#cdp, { count: calls }), 0.5),
      }
    }
  }

  async #read(calls: number, path: string): Promise<number> {
    const elapsedMs: number[] = []
    while (elapsedMs.length < calls) elapsedMs.push((await this.server.read(path)).elapsedMs)
    return quantile(elapsedMs, 0.5)
  }

  /** Of one session, with what the server and its database have grown by. */
  async liveMemoryMb(): Promise<number> {
    await this.server.settled({ sessions: this.size.live })
    return (memoryMbOf(this.server) - this.#emptyMb) / this.size.live
  }

  async end(): Promise<void> {
    await this.#cdp.close()
    await this.server.stop()
  }
}

function memoryMbOf(server: SessionServer): number {
  const { daemon, postgres, instances } = server.processes()
  return pssBytesOf([...daemon, ...postgres, ...[...instances.values()].flat()]) / MEBIBYTE
}
