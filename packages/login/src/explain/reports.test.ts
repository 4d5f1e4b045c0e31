// Pages of reports, and what the rules should read there. `npm run logins -- --from-report FILE` adds one.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fixtureOf, problemsOf, type Fixture, type Report } from './report.ts'

const folder = join(import.meta.dirname, 'reports')
// SAFETY: written by from-report.ts.
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Fixture
const names = readdirSync(folder).filter((name) => name.endsWith('.json'))

for (const name of names) {
  const fixture = read(name)
  test(`${name}: ${fixture.about}`, () => assert.deepEqual(problemsOf(fixture), []))
}

test('a report fails as a test until the rule is fixed', () => {
  const fixture = read('captcha-beside-form.json')
  const report: Report = {
    domain: 'harbour.example',
    error_message: 'The website asks to solve a captcha',
    steps: [
      { number: 1, reason: 'find_login', saw: 'nothing yet' },
      { number: 2, reason: 'end', saw: 'a captcha', page: fixture.page, read: fixture.read },
    ],
  }
  const made = fixtureOf(report, { wanted: fixture.wanted })
  assert.equal(made.about, 'harbour.example, step 2, The website asks to solve a captcha')
  // The rules of the report, then those of today.
  assert.deepEqual(
    problemsOf(made, () => made.read).map((text) => text.split(':')[0]),
    ['obstacle', 'form'],
  )
  assert.deepEqual(problemsOf(made), [])
})

test('a report without pages, or without the step, says what to do', () => {
  const steps = [{ number: 1, reason: 'end', saw: '' }]
  assert.throws(() => fixtureOf({ domain: 'a.example', steps }), /export it with its pages/)
  const { page } = read('captcha-beside-form.json')
  assert.throws(
    () => fixtureOf({ domain: 'a.example', steps: [{ ...steps[0]!, page }] }, { number: 4 }),
    /no page for step 4: choose from 1/,
  )
})
