// What an operator waits for: `npm start` with a data directory that exists, until the server answers.
import { tempDir } from '../../../tests/fixtures/server.ts'
import { onFreeCores } from '../measure/cores.ts'
import { atMost } from '../measure/metric.ts'
import { judgeValues } from '../measure/values.ts'
import { startUntilHealthy, type Startable } from '../subjects/start.ts'
import { npmStart, oursAsNpmStart } from '../subjects/startables.ts'
import type { ProcessRow } from './row.ts'

const GOAL = atMost(2_000)

export const npmStartRow: ProcessRow = {
  number: 47,
  title: '`npm start` with a data directory that exists, until the server is ready',
  async *measureProcesses({ cleanup, cores, servers }, { effort, signal }) {
    await servers.close()
    const dataDir = tempDir(cleanup)
    const startMs = async (startable: Startable) => {
      const started = await startUntilHealthy(cleanup, startable, cores.all)
      await started.stop()
      return started.startMs
    }
    const readings = await onFreeCores(
      cores,
      () => [],
      async () => {
        // Creates the database, and what the set-up makes once.
        await startMs(npmStart(dataDir))
        const measured = []
        while (measured.length < effort.startPairs) {
          signal.throwIfAborted()
          measured.push({
            startMs: await startMs(npmStart(dataDir)),
            withoutNpmMs: await startMs(oursAsNpmStart(dataDir)),
          })
        }
        return measured
      },
    )
    const line = { row: 47, unit: 'ms', digits: 0 }
    yield judgeValues(
      [
        { ...line, name: 'npm start, until ready', reading: 'startMs', goal: GOAL },
        { ...line, name: 'what npm start runs, without npm', reading: 'withoutNpmMs' },
      ],
      readings,
    )
  },
}
