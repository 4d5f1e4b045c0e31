import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCatalogue, errorCodes } from '@berth/contracts/errors'
import { exitCodeOfStatus, exitCodes } from './exit-codes.ts'
import { describe, Failure } from './failure.ts'

const answer = (status: number, error: object, headers: Record<string, string> = {}) =>
  Object.assign(new Error('x'), { status, error, headers: new Headers(headers) })

test('an error of the API is shown with its details, the remedy and the request id', () => {
  const { text, exitCode } = describe(
    answer(
      429,
      { code: 'too_many_requests', message: 'Too many', details: [{ code: 'x', message: 'more of it' }] },
      { 'x-request-id': 'req_1', 'retry-after': '7' },
    ),
  )
  assert.equal(text, 'too_many_requests: Too many\n  more of it\nTry again in 7 seconds\nRequest id: req_1')
  assert.equal(exitCode, exitCodes.busy)
})

test('a server that does not answer is named', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  const error = Object.assign(
    new Error('Connection error.', { cause: new TypeError('fetch failed', { cause }) }),
    { name: 'Error' },
  )
  const { text, exitCode } = describe(error, { baseUrl: 'http://127.0.0.1:1' })
  assert.match(text, /^Cannot reach the server at http:\/\/127\.0\.0\.1:1: connect ECONNREFUSED/)
  assert.match(text, /berth up/)
  assert.equal(exitCode, exitCodes.unreachable)
})

test('a failure has its remedy on a line of its own', () => {
  assert.deepEqual(describe(new Failure('No', { exitCode: 9, remedy: 'Say yes' })), {
    text: 'No\nSay yes',
    exitCode: 9,
  })
})

test('every error of the catalogue has an exit code that is not success', () => {
  const known = new Set<number>(Object.values(exitCodes))
  for (const code of errorCodes) {
    const exitCode = exitCodeOfStatus(errorCatalogue[code].status)
    assert.ok(exitCode !== 0 && known.has(exitCode), code)
  }
})
