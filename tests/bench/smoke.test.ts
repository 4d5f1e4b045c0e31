// Runs every row of the benchmark once, to see that it works. The numbers mean nothing here, so two halves of it may
// run side by side.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'

const main = join(import.meta.dirname, '../../scripts/bench/main.ts')
const MAX_MS = 900_000

const halves = {
  'of the control plane': [27, 28, 29, 30, 33, 60],
  'of sessions': [
    2, 5, 34, 1, 6, 4, 36, 35, 3, 7, 8, 9, 11, 23, 24, 25, 26, 20, 21, 18, 19, 22, 12, 14, 13, 15, 16, 17, 10,
    31, 32, 37, 44, 41, 42, 43, 46, 47, 48, 49, 38, 39, 40,
  ],
}

describe('npm run bench -- --smoke measures every row', { concurrency: true }, () => {
  for (const [name, rows] of Object.entries(halves)) {
    test(name, async () => {
      const args = [main, '--smoke', '--rows', rows.join(',')]
      const child = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: MAX_MS,
      })
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit') as Promise<[number | null]>,
      ])
      assert.equal(code, 0, `${stdout}\n${stderr}`)
      for (const row of rows) {
        const isMeasured = new RegExp(`^${row} {1,2} .* not judged$`, 'm').test(stdout)
        // A row that cannot be measured here must say why.
        assert.ok(isMeasured || stdout.includes(`Skipped in row ${row}:`), `row ${row}\n${stdout}`)
      }
    })
  }

  test('every row is in one of the halves', async () => {
    const child = spawn(process.execPath, [main, '--rows', '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'exit')])
    const known = /the rows are ([\d, ]+)/.exec(stderr)?.[1]?.split(', ').map(Number) ?? []
    assert.deepEqual(new Set(known), new Set(Object.values(halves).flat()))
  })
})
