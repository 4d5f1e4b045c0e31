import { whyNoHeadfulSessions, whyNoSessions } from '../subjects/session-servers.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { compare, type Compared, type Measuring } from '../measure/compare.ts'
import { onFreeCores } from '../measure/cores.ts'
import { atLeast, type Metric } from '../measure/metric.ts'
import { treeOf } from '../measure/processes.ts'
import type { ProcessPlace, ProcessRow } from './row.ts'
import { createBlock, spawnBlock, usableMetric, usableMetrics } from './usable.ts'

const GOAL = atLeast(25, 60)

export const warmCreateRow: ProcessRow = {
  number: 1,
  title: 'Warm create until usable, headless, against spawning Chromium',
  whySkipped: whyNoSessions,
  async *measureProcesses(place, measuring) {
    const server = await place.servers.one({ warmHeadless: measuring.effort.warmInstances })
    const line = { row: 1, name: 'Warm create, headless', judged: 'speedup' } as const
    yield await compareFree(place, measuring, {
      server,
      isHeadless: true,
      metrics: usableMetrics({ ...line, goal: GOAL }),
    })
    yield await comparePinned(place, measuring, {
      server,
      isHeadless: true,
      metrics: usableMetrics({ ...line, name: `${line.name}, one core` }),
    })
  },
}

export const warmHeadfulCreateRow: ProcessRow = {
  number: 2,
  title: 'Warm create until usable, headful, against spawning an X server and Chromium',
  whySkipped: whyNoHeadfulSessions,
  async *measureProcesses(place, measuring) {
    const server = await place.servers.one({ warmHeadful: measuring.effort.warmHeadfulInstances })
    const line = { row: 2, name: 'Warm create, headful', judged: 'speedup' } as const
    const note = 'the X server of the baseline is Xvnc; the screenshot is checked after what is judged'
    yield await compareFree(place, measuring, {
      server,
      isHeadless: false,
      metrics: [
        ...usableMetrics({ ...line, goal: GOAL, note }),
        usableMetric('until its screenshot', 'shownMs', line),
      ],
    })
    yield await comparePinned(place, measuring, {
      server,
      isHeadless: false,
      metrics: usableMetrics({ ...line, name: `${line.name}, one core` }),
    })
  },
}

interface Measured {
  readonly server: SessionServer
  readonly isHeadless: boolean
  readonly metrics: readonly Metric[]
}

/** As users have it: the kernel places every process, and the published client creates the sessions. */
function compareFree(
  { cleanup, cores }: ProcessPlace,
  measuring: Measuring,
  { server, isHeadless, metrics }: Measured,
): Promise<Compared> {
  const create = (wish: { headless: boolean }) => server.client.browsers.create(wish)
  const blocks = {
    ours: createBlock(server, { isHeadless }, create),
    baseline: spawnBlock(cleanup, { isHeadless, cores: cores.all }),
  }
  return onFreeCores(
    cores,
    () => treeOf(server.pid),
    () => compare({ blocks, pairs: measuring.effort.createPairs, metrics }, measuring),
  )
}

/** For information: one core makes the bare browser almost twice as slow, and so the session look quick. */
function comparePinned(
  { cleanup, cores }: ProcessPlace,
  measuring: Measuring,
  { server, isHeadless, metrics }: Measured,
): Promise<Compared> {
  const blocks = {
    ours: createBlock(server, { isHeadless }),
    baseline: spawnBlock(cleanup, { isHeadless, cores: cores.server }),
  }
  return compare({ blocks, pairs: Math.ceil(measuring.effort.createPairs / 2), metrics }, measuring)
}
