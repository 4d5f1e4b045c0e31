import assert from 'node:assert/strict'
import test from 'node:test'
import { readPlaywrightReport } from './playwright-report.ts'
import { readPytestReport } from './pytest-report.ts'

const spec = (title: string, line: number, status: string, message?: string) => ({
  title,
  file: 'page/goto.spec.ts',
  line,
  tests: [{ status, results: message === undefined ? [] : [{ error: { message } }] }],
})

test('a report of Playwright becomes one result for each test', () => {
  const report = {
    suites: [
      {
        title: 'page/goto.spec.ts',
        file: 'page/goto.spec.ts',
        specs: [spec('should work', 3, 'expected'), spec('should not', 9, 'skipped')],
        suites: [
          {
            title: 'inside',
            file: 'page/goto.spec.ts',
            specs: [spec('should fail', 20, 'unexpected', '\u001b[31mError\u001b[39m: no\n  such page')],
          },
        ],
      },
    ],
  }
  assert.deepEqual(
    [...readPlaywrightReport(JSON.stringify(report))],
    [
      ['page/goto.spec.ts › should work', { outcome: 'passed', selector: 'page/goto.spec.ts:3' }],
      ['page/goto.spec.ts › should not', { outcome: 'skipped', selector: 'page/goto.spec.ts:9' }],
      [
        'page/goto.spec.ts › inside › should fail',
        { outcome: 'failed', selector: 'page/goto.spec.ts:20', error: 'Error: no such page' },
      ],
    ],
  )
})

test('a report of Playwright without tests says why', () => {
  const report = { suites: [], errors: [{ message: 'No tests found' }] }
  assert.throws(() => readPlaywrightReport(JSON.stringify(report)), /cannot run: No tests found/)
})

test('a report of pytest becomes one result for each test', () => {
  const xml = `<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest">
    <testcase classname="tests.a.test_b" name="test_one" file="tests/a/test_b.py" line="4" time="0.1" />
    <testcase classname="tests.a.test_b" name="test_two[&lt;p&gt; &amp; &#233;]" file="tests/a/test_b.py" line="9">
      <failure message="assert 1 == 2&#10;  where">text &lt;/testcase&gt;</failure></testcase>
    <testcase classname="tests.a.test_c" name="test_three"><skipped type="pytest.skip" message="no" /></testcase>
    <testcase classname="tests.a.test_b" name="test_one" file="tests/a/test_b.py" line="4"><error message="late" /></testcase>
    </testsuite></testsuites>`
  assert.deepEqual(
    [...readPytestReport(xml)],
    [
      [
        'tests/a/test_b.py::test_one',
        { outcome: 'failed', selector: 'tests/a/test_b.py::test_one', error: 'late' },
      ],
      [
        'tests/a/test_b.py::test_two[<p> & é]',
        { outcome: 'failed', selector: 'tests/a/test_b.py::test_two', error: 'assert 1 == 2 where' },
      ],
      ['tests/a/test_c.py::test_three', { outcome: 'skipped', selector: 'tests/a/test_c.py::test_three' }],
    ],
  )
})

test('a report of a pytest that broke off is refused, because tests are missing in it', () => {
  const xml = `<testsuites><testsuite name="pytest">
    <testcase classname="tests.a.test_b" name="test_one" file="tests/a/test_b.py" line="4" time="0.1" />
    <testcase classname="pytest" name="internal" time="0.0"><error message="internal error">text</error></testcase>
    </testsuite></testsuites>`
  assert.throws(() => readPytestReport(xml), /tests are missing/)
})
