import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectRefused, toS3Failure } from './failure.ts'

test('a failure repeats codes and statuses, and nothing else that a store sent', () => {
  const secret = 'arn:aws:iam::1:user/secret'
  const cases: [unknown, string][] = [
    [
      Object.assign(new Error(secret), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } }),
      'it answers AccessDenied (403)',
    ],
    [
      Object.assign(new Error(secret), { name: `<b>${secret}</b>`, $metadata: { httpStatusCode: 500 } }),
      'it answers an error (500)',
    ],
    [Object.assign(new Error(secret), { code: 'ECONNREFUSED' }), 'the connection failed (ECONNREFUSED)'],
    [
      new Error(secret, { cause: new ConnectRefused('Cannot reach "x": denied') }),
      'Cannot reach "x": denied',
    ],
    [Object.assign(new Error(secret), { name: 'TimeoutError' }), 'it took too long to answer'],
    [new Error(secret), 'the request failed'],
    [secret, 'the request failed'],
    [undefined, 'the request failed'],
    [null, 'the request failed'],
  ]
  for (const [thrown, message] of cases) assert.equal(toS3Failure(thrown).message, message)
})
