import { tempDir } from '../../../tests/fixtures/server.ts'
import { startUntilHealthy, type Startable } from '../subjects/start.ts'
import { bareAsNpmStart, bareDirectly, oursAsNpmStart, oursDirectly } from '../subjects/startables.ts'
import { compare, type Compared, type Measuring } from '../measure/compare.ts'
import { atMost, type Goal, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessPlace } from './row.ts'

const GOAL = atMost(4, 2.5)

function line(name: string, goal?: Goal): Metric {
  return {
    row: 33,
    name: `Start to /health: ${name}`,
    reading: 'startMs',
    unit: 'ms',
    digits: 0,
    judged: 'ratio',
    ...(goal && { goal }),
  }
}

export async function* compareStarts(
  { cleanup, cores }: ProcessPlace,
  measuring: Measuring,
): AsyncIterable<Compared> {
  const { startPairs, firstStartPairs } = measuring.effort
  const block = (startable: () => Startable): Block => {
    return async () => {
      const started = await startUntilHealthy(cleanup, startable(), cores.server)
      await started.stop()
      return { startMs: started.startMs }
    }
  }

  const dataDir = tempDir(cleanup)
  const cacheDir = tempDir(cleanup)
  await block(() => oursDirectly(dataDir))()
  yield await compare(
    {
      blocks: { ours: block(() => oursDirectly(dataDir)), baseline: block(bareDirectly) },
      pairs: startPairs,
      metrics: [line('node, no compile cache', GOAL)],
    },
    measuring,
  )
  yield await compare(
    {
      blocks: {
        ours: block(() => oursAsNpmStart(dataDir)),
        baseline: block(() => bareAsNpmStart(cacheDir)),
      },
      pairs: startPairs,
      metrics: [line('as npm start does it', GOAL)],
    },
    measuring,
  )
  // A new directory each time, so this includes creating the database, which happens once.
  const everNew = block(() => oursDirectly(tempDir(cleanup)))
  yield await compare(
    {
      blocks: { ours: everNew, baseline: block(bareDirectly) },
      pairs: firstStartPairs,
      metrics: [line('the first one, with initdb')],
    },
    { ...measuring, effort: { ...measuring.effort, warmUps: 0 } },
  )
}
