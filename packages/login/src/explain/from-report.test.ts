// The command that makes a test of a report.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { button, field, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { addFixture } from '../../../../tests/logins/from-report.ts'
import type { Fixture } from './report.ts'

test('a report becomes a file, which says what the rules read differently', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-report-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const report = join(folder, 'report.json')
  const seen = page({ elements: [field({ label: 'Username' }), password(), button('Log in')] })
  writeFileSync(
    report,
    JSON.stringify({ domain: 'a.example', steps: [{ number: 2, reason: 'end', saw: '', page: seen }] }),
  )
  const given = { file: report, name: 'A page', step: undefined, wanted: '{"has_captcha": true}' }
  assert.match(addFixture(given, folder), /has_captcha: should be true, but is null/)
  const made = JSON.parse(readFileSync(join(folder, 'a-page.json'), 'utf8')) as Fixture
  assert.equal(made.about, 'a.example, step 2')
  assert.deepEqual(made.wanted, { has_captcha: true })
  assert.deepEqual(made.read.form?.fields, ['identifier username', 'password password'])
  assert.throws(() => addFixture(given, folder), /exists already/)
  assert.throws(() => addFixture({ ...given, name: 'b', wanted: '{' }, folder), /--wanted is not JSON/)
})
