// How large a fleet can be, and where it breaks first. README.md describes the method.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Cleanup } from '../bench/cleanup.ts'
import { resultsDir } from '../bench/results-file.ts'
import { bundlePrograms } from '../../tests/fixtures/programs.ts'
import { check } from './check.ts'
import { kubernetes } from './limits.ts'
import {
  fullEffort,
  measurePart,
  parts,
  readingsFrom,
  smokeEffort,
  type Part,
  type Raw,
} from './measure/all.ts'
import { Fleet } from './model/fleet.ts'
import type { Readings } from './model/inputs.ts'
import { atArrivals, climb } from './model/ladder.ts'
import { plan, scenarioWith } from './plans.ts'
import { costsTable, ladderTable, latency, number, runTable, table } from './tables.ts'

const ARRIVALS = [5, 10, 17, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200]
const RUNGS = 4
const saved = join(import.meta.dirname, 'readings.json')

const { values: options } = parseArgs({
  options: {
    measure: { type: 'boolean', default: false },
    parts: { type: 'string' },
    save: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const readReadings = () => JSON.parse(readFileSync(saved, 'utf8')) as Readings

const seconds = (value: number | undefined) => (value === undefined ? 'none missed' : `${value.toFixed(1)} s`)

function simulate(readings: Readings): void {
  console.log(`What one of each costs:\n\n${costsTable(readings)}\n`)
  const usual = scenarioWith(readings)
  const talking = { ...usual, load: { ...usual.load, eventsPerSession: 1 } }
  const results = [usual, talking, atArrivals(usual, 50)].map((scenario) => new Fleet(scenario).run())
  console.log(
    `10,000 sessions on ${plan.nodes} nodes, ${plan.servers} servers; the second with an event a second of each session:\n\n${runTable(results)}\n`,
  )
  console.log(`What gives way when arrivals grow, and then with that raised:\n`)
  console.log(`${ladderTable([...climb(usual, { arrivals: ARRIVALS, rungs: RUNGS })])}\n`)
  const incident = (kind: 'burst' | 'node-lost' | 'server-lost', count?: number) =>
    new Fleet({ ...usual, incident: { kind, at: 60, ...(count !== undefined && { count }) } }).run()
  const burst = incident('burst', 500)
  const node = incident('node-lost')
  const server = incident('server-lost')
  console.log(
    table([
      ['after', 'stock full again', 'taken over', 'sessions lost', 'create p50 / p95 / p99'],
      ['500 creates at once', seconds(burst.recovery.refilledAfter), '', '', latency(burst.burstLatency)],
      [
        'a node is lost',
        seconds(node.recovery.refilledAfter),
        '',
        String(node.recovery.lost),
        latency(node.latency),
      ],
      [
        'a server is lost',
        seconds(server.recovery.refilledAfter),
        `${server.recovery.taken} in ${seconds(server.recovery.takenAfter)}`,
        String(server.recovery.lost),
        latency(server.latency),
      ],
    ]),
  )
}

async function measure(cleanup: Cleanup): Promise<void> {
  const effort = options.smoke ? smokeEffort : fullEffort
  const chosen = options.parts === undefined ? parts : (options.parts.split(',') as Part[])
  const file = join(resultsDir, options.smoke ? 'scale-smoke.json' : 'scale.json')
  await bundlePrograms()
  for (const part of chosen) {
    const startedAt = performance.now()
    const reading = await measurePart(part, effort, cleanup)
    console.log(`${part}: took ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
    mkdirSync(resultsDir, { recursive: true })
    writeFileSync(file, `${JSON.stringify({ ...readRaw(file), [part]: reading }, undefined, 2)}\n`)
  }
  console.log(`Raw readings: ${file}`)
  const raw = readRaw(file)
  if (parts.some((part) => raw[part] === undefined)) return
  // SAFETY: every part is there.
  const readings = readingsFrom(raw as unknown as Raw)
  console.log(`\n${costsTable(readings)}\n\n${JSON.stringify(readings, undefined, 2)}`)
  if (options.save) writeFileSync(saved, `${JSON.stringify(readings, undefined, 2)}\n`)
}

function readRaw(file: string): Partial<Record<Part, unknown>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<Part, unknown>>
  } catch {
    return {}
  }
}

async function compare(cleanup: Cleanup): Promise<void> {
  await bundlePrograms()
  const cases = [
    {
      name: 'a stock that suffices',
      perSecond: 2,
      sessionSeconds: 20,
      seconds: 60,
      warm: 10,
      startSeconds: 1.5,
    },
    {
      name: 'a stock that runs out',
      perSecond: 6,
      sessionSeconds: 10,
      seconds: 60,
      warm: 4,
      startSeconds: 2.5,
    },
  ]
  for (const each of options.smoke ? [{ ...cases[0]!, seconds: 5, warm: 2, startSeconds: 0.2 }] : cases) {
    const compared = await check(cleanup, each, readReadings(), kubernetes)
    console.log(`${each.name}: ${each.perSecond} sessions a second\n`)
    console.log(
      `${table([
        ['', 'model', 'real', 'ratio'],
        ...compared.map(({ what, unit, model, real }) => [
          what,
          `${number(model)} ${unit}`,
          `${number(real)} ${unit}`,
          number(model / real),
        ]),
      ])}\n`,
    )
  }
}

const help = `npm run scale [-- options]: simulates 10,000 sessions on 200 nodes, from readings in scripts/scale/readings.json.

  --measure          measure them instead, on this machine; do not use it for anything else (15 minutes)
  --parts life,lock  only these: ${parts.join(', ')}
  --save             write what was measured to readings.json
  --check            compare the model with real servers on a stand-in for a cluster (3 minutes)
  --smoke            measure or check with small numbers, to see that it works
  --help             print this text

Measuring needs root, bubblewrap is not needed. Raw readings are in bench-results/scale.json.`

const cleanup = new Cleanup()
const interrupt = () => void cleanup.close().finally(() => process.exit(130))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect']) process.once(signal, interrupt)
try {
  if (options.help) console.log(help)
  else if (options.measure) await measure(cleanup)
  else if (options.check) await compare(cleanup)
  else simulate(readReadings())
} finally {
  await cleanup.close()
}
process.exit()
