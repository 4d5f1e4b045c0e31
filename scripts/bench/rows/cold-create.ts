import { hasEmptyInstances, whyNoSessions } from '../arms/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { atMost } from '../measure/metric.ts'
import type { ProcessRow } from './row.ts'
import { createBlock, spawnBlock, usableMetrics } from './usable.ts'

const GOAL = atMost(1.1, 0.9)

export const coldCreateRow: ProcessRow = {
  number: 3,
  title: 'Cold create until usable, headless, against spawning Chromium',
  whySkipped: whyNoSessions,
  async *measureProcesses(place, measuring) {
    const { createPairs } = measuring.effort
    const kind = { isHeadless: true }
    if (hasEmptyInstances) {
      const server = await place.servers.one({ empty: measuring.effort.emptyInstances })
      yield await compare(
        {
          arms: { ours: createBlock(server, kind), baseline: spawnBlock(place, kind) },
          pairs: createPairs,
          metrics: usableMetrics({
            row: 3,
            name: 'Cold create, empty instances',
            judged: 'ratio',
            goal: GOAL,
          }),
        },
        measuring,
      )
    }
    const server = await place.servers.one({})
    yield await compare(
      {
        arms: { ours: createBlock(server, kind), baseline: spawnBlock(place, kind) },
        pairs: createPairs,
        metrics: usableMetrics({
          row: 3,
          name: 'Cold create, no instance at all',
          judged: 'ratio',
          // With nothing else to judge, this is what a session costs that misses the pool.
          ...(!hasEmptyInstances && {
            goal: GOAL,
            note: 'this version cannot hold empty instances, so what there is is judged',
          }),
        }),
      },
      measuring,
    )
  },
}
