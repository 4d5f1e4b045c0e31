import { hasEmptyInstances, whyNoSessions } from '../subjects/session-servers.ts'
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
          blocks: {
            ours: createBlock(server, kind),
            baseline: spawnBlock(place.cleanup, { ...kind, cores: place.cores.server }),
          },
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
        blocks: {
          ours: createBlock(server, kind),
          baseline: spawnBlock(place.cleanup, { ...kind, cores: place.cores.server }),
        },
        pairs: createPairs,
        metrics: usableMetrics({
          row: 3,
          name: 'Cold create, no instance at all',
          judged: 'ratio',
          // Without empty instances, this is the cost of a session that misses the pool.
          ...(!hasEmptyInstances && {
            goal: GOAL,
            note: 'this version cannot keep empty instances ready, so this reading is judged instead',
          }),
        }),
      },
      measuring,
    )
  },
}
