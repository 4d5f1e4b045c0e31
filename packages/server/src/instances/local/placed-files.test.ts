import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { PlacedFiles } from './placed-files.ts'

function makePlaces(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), 'berth-placed-'))
  t.after(() => rmSync(parent, { recursive: true, force: true }))
  const original = join(parent, 'agent.mjs')
  writeFileSync(original, 'first', { mode: 0o600 })
  return { original, programs: join(parent, 'programs') }
}

test('a file is placed once, for everybody to read, and not changed by a build', (t) => {
  const { original, programs } = makePlaces(t)
  const placed = new PlacedFiles(programs).place(original)
  assert.equal(new PlacedFiles(programs).place(original), placed)
  assert.equal(statSync(placed).mode & 0o777, 0o755)
  assert.equal(statSync(dirname(placed)).mode & 0o777, 0o755)
  writeFileSync(original, 'second')
  assert.equal(readFileSync(placed, 'utf8'), 'first')
  const next = new PlacedFiles(programs).place(original)
  assert.notEqual(next, placed)
  assert.equal(readFileSync(next, 'utf8'), 'second')
  assert.equal(readdirSync(programs).length, 2, 'nothing unfinished is left')
})

test('what is not used for a week is removed, and comes back when it is needed', (t) => {
  const { original, programs } = makePlaces(t)
  const files = new PlacedFiles(programs)
  const placed = files.place(original)
  const other = new PlacedFiles(programs)
  other.removeUnused()
  assert.deepEqual(readdirSync(dirname(placed)), ['agent.mjs'])
  const longAgo = Date.now() / 1000 - 8 * 86_400
  utimesSync(dirname(placed), longAgo, longAgo)
  files.removeUnused()
  assert.deepEqual(readdirSync(dirname(placed)), ['agent.mjs'], 'its own stay')
  files.keep()
  other.removeUnused()
  assert.deepEqual(readdirSync(dirname(placed)), ['agent.mjs'], 'it was used just now')
  utimesSync(dirname(placed), longAgo, longAgo)
  other.removeUnused()
  assert.deepEqual(readdirSync(programs), [])
  files.keep()
  assert.equal(readFileSync(placed, 'utf8'), 'first')
})
