// That the benchmark works, with every row once. Its numbers mean nothing here.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const main = join(import.meta.dirname, '../../scripts/bench/main.ts')

test('npm run bench -- --smoke finds every arm in order', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--smoke'], {
    encoding: 'utf8',
    timeout: 180_000,
  })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  for (const row of [1, 2, 3, 7, 8, 9, 13, 15, 16, 27, 28, 29, 30, 33])
    assert.match(stdout, new RegExp(`^Row ${row}:`, 'm'))
})
