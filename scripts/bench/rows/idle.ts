import { setTimeout as pause } from 'node:timers/promises'
import { tempDir } from '../../../tests/fixtures/server.ts'
import { postmasterOf } from '../subjects/postmaster.ts'
import { startUntilHealthy, type Started } from '../subjects/start.ts'
import { bareDirectly, oursDirectly } from '../subjects/startables.ts'
import type { Compared, Measuring } from '../measure/compare.ts'
import { judge } from '../measure/judge.ts'
import { atMost, type Metric, type Pair } from '../measure/metric.ts'
import { cpuMsOf, pssBytesOf, serverRssBytesOf, treeOf } from '../measure/processes.ts'
import type { ProcessPlace } from './row.ts'

const SETTLE_MS = 5_000
const MEBIBYTE = 1024 * 1024

const idleMetrics: Metric[] = [
  idle('RSS of the server', 'rssMb', 'MB', { judged: 'ratio', goal: atMost(2.5, 1.8) }),
  idle('PSS of PostgreSQL', 'postgresPssMb', 'MB', { judged: 'value', isOursOnly: true }),
  idle('CPU of the server', 'cpuPercent', '% of a core', { judged: 'value', goal: atMost(0.5, 0.1) }),
  idle('CPU with PostgreSQL', 'cpuWithPostgresPercent', '% of a core', {
    judged: 'value',
    goal: atMost(0.5, 0.1),
  }),
]

function idle(
  name: string,
  reading: string,
  unit: string,
  how: Pick<Metric, 'judged' | 'goal' | 'isOursOnly'>,
): Metric {
  return { row: 33, name: `At rest: ${name}`, reading, unit, digits: unit === 'MB' ? 1 : 3, ...how }
}

/** All at the same time, because idle processes do not disturb each other. */
export async function compareIdle(
  { cleanup, cores }: ProcessPlace,
  { effort, signal }: Measuring,
): Promise<Compared> {
  const watched: { ours: Watched; baseline: Watched }[] = []
  for (let count = 0; count < effort.idlePairs; count++) {
    const dataDir = tempDir(cleanup)
    const ours = await startUntilHealthy(cleanup, oursDirectly(dataDir), cores.server)
    const baseline = await startUntilHealthy(cleanup, bareDirectly(), cores.server)
    watched.push({
      ours: new Watched(ours, postmasterOf(dataDir)),
      baseline: new Watched(baseline),
    })
  }
  await pause(effort.isJudged ? SETTLE_MS : 0, undefined, { signal })
  for (const pair of watched) {
    pair.ours.begin()
    pair.baseline.begin()
  }
  await pause(effort.idleSeconds * 1000, undefined, { signal })
  const samples: Pair[] = watched.map((pair) => ({ ours: pair.ours.end(), baseline: pair.baseline.end() }))
  await Promise.all(watched.flatMap((pair) => [pair.ours.started.stop(), pair.baseline.started.stop()]))
  return {
    results: idleMetrics.map((metric) =>
      judge(metric, { clean: samples, all: samples, wanted: effort.idlePairs }),
    ),
    samples,
  }
}

class Watched {
  readonly started: Started
  readonly #postmaster: number | undefined
  #beganAt = 0
  #cpuMs = { server: 0, postgres: 0 }

  constructor(started: Started, postmaster?: number) {
    this.started = started
    this.#postmaster = postmaster
  }

  begin(): void {
    this.#beganAt = performance.now()
    this.#cpuMs = this.#readCpuMs()
  }

  end() {
    const elapsedMs = performance.now() - this.#beganAt
    const { server, postgres } = this.#readCpuMs()
    const serverMs = server - this.#cpuMs.server
    const postgresMs = postgres - this.#cpuMs.postgres
    return {
      rssMb: serverRssBytesOf(this.started.pid) / MEBIBYTE,
      postgresPssMb: pssBytesOf(this.#postgresPids()) / MEBIBYTE,
      cpuPercent: (serverMs / elapsedMs) * 100,
      cpuWithPostgresPercent: ((serverMs + postgresMs) / elapsedMs) * 100,
    }
  }

  #readCpuMs() {
    const except = this.#postmaster === undefined ? [] : [this.#postmaster]
    return {
      server: cpuMsOf(treeOf(this.started.pid, { except })),
      postgres: cpuMsOf(this.#postgresPids()),
    }
  }

  #postgresPids(): number[] {
    return this.#postmaster === undefined ? [] : treeOf(this.#postmaster)
  }
}
