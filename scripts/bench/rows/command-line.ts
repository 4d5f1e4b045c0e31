// Row 60: how long a person waits for the help of the command line.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { tempDir } from '../../../tests/fixtures/server.ts'
import { compare } from '../measure/compare.ts'
import { atMost } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessRow } from './row.ts'

const program = join(import.meta.dirname, '../../../packages/cli/bin/berth.mjs')
const line = { row: 60, reading: 'startMs', unit: 'ms', digits: 0 } as const

export const commandLineRow: ProcessRow = {
  number: 60,
  title: 'berth --help, against node -e 0',
  async *measureProcesses({ cleanup, cores }, measuring) {
    const home = tempDir(cleanup)
    const block = (args: readonly string[]): Block => {
      return () => {
        const startedAt = performance.now()
        const { status, stderr } = spawnSync(
          'taskset',
          ['--cpu-list', cores.server, process.execPath, ...args],
          {
            encoding: 'utf8',
            // The compile cache is in the directory for temporary files.
            env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home },
          },
        )
        if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`)
        return Promise.resolve({ startMs: performance.now() - startedAt })
      }
    }
    yield await compare(
      {
        blocks: { ours: block([program, '--help']), baseline: block(['-e', '0']) },
        pairs: measuring.effort.startPairs,
        metrics: [
          { ...line, name: 'berth --help', judged: 'value', goal: atMost(150) },
          { ...line, name: 'berth --help, more than node -e 0', judged: 'difference' },
        ],
      },
      measuring,
    )
  },
}
