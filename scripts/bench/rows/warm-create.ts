import { whyNoHeadfulSessions, whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { atLeast } from '../measure/metric.ts'
import type { ProcessRow } from './row.ts'
import { createBlock, spawnBlock, usableMetric, usableMetrics } from './usable.ts'

const GOAL = atLeast(25, 60)

export const warmCreateRow: ProcessRow = {
  number: 1,
  title: 'Warm create until usable, headless, against spawning Chromium',
  whySkipped: whyNoSessions,
  async *measureProcesses(place, measuring) {
    const { effort } = measuring
    const server = await place.servers.one({ warmHeadless: effort.warmInstances })
    const kind = { isHeadless: true }
    yield await compare(
      {
        blocks: { ours: createBlock(server, kind), baseline: spawnBlock(place, kind) },
        pairs: effort.createPairs,
        metrics: usableMetrics({ row: 1, name: 'Warm create, headless', judged: 'speedup', goal: GOAL }),
      },
      measuring,
    )
  },
}

export const warmHeadfulCreateRow: ProcessRow = {
  number: 2,
  title: 'Warm create until usable, headful, against spawning an X server and Chromium',
  whySkipped: whyNoHeadfulSessions,
  async *measureProcesses(place, measuring) {
    const { effort } = measuring
    const server = await place.servers.one({ warmHeadful: effort.warmHeadfulInstances })
    const kind = { isHeadless: false }
    const line = { row: 2, name: 'Warm create, headful', judged: 'speedup' } as const
    const note = 'the X server of the baseline is Xvnc; the screenshot is checked after what is judged'
    yield await compare(
      {
        blocks: { ours: createBlock(server, kind), baseline: spawnBlock(place, kind) },
        pairs: effort.createPairs,
        metrics: [
          ...usableMetrics({ ...line, goal: GOAL, note }),
          usableMetric('until its screenshot', 'shownMs', line),
        ],
      },
      measuring,
    )
  },
}
