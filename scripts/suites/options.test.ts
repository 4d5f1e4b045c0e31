import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { readOptions } from './options.ts'

const here = import.meta.dirname

test('the suites are those of the given repositories', () => {
  assert.deepEqual(readOptions(['--playwright', here]).suites, ['page', 'library'])
  assert.deepEqual(readOptions(['--bidi', here]).suites, ['bidi'])
  assert.deepEqual(readOptions(['--bidi', here, '--playwright', here, '--only', 'page']).suites, ['page'])
})

test('everything else is passed on', () => {
  const { grep, files, workers, playwright } = readOptions([
    '--playwright',
    here,
    '--grep',
    'goto',
    'page-goto',
  ])
  assert.deepEqual(
    { grep, files, workers, playwright },
    { grep: 'goto', files: ['page-goto'], workers: 1, playwright: here },
  )
  assert.equal(readOptions(['--bidi', here]).isBerthFirst, false)
  assert.equal(readOptions(['--bidi', here, '--berth-first']).isBerthFirst, true)
})

test('what cannot be run is refused with the reason', () => {
  assert.throws(() => readOptions([]), /Nothing to run: give --playwright DIR/)
  assert.throws(
    () => readOptions(['--bidi', here, '--only', 'pages']),
    /Cannot run "pages": --only takes page, library, bidi/,
  )
  assert.throws(
    () => readOptions(['--bidi', here, '--only', 'page']),
    /Cannot run "page": give --playwright DIR/,
  )
  assert.throws(() => readOptions(['--bidi', join(here, 'nothing')]), /there is no .*nothing/)
  assert.throws(() => readOptions(['--bidi', here, '--workers', '0']), /--workers takes/)
})
