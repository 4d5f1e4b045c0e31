import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFinal, problemOf } from './problem.ts'

test('a refusal is split into what happened and what to do, and names the request', () => {
  const headers = new Headers({ 'x-request-id': 'req_1' })
  const error = {
    code: 'too_many_sessions',
    message: 'Cannot create: 10 of 10 run; end one or raise the limit',
  }
  assert.deepEqual(problemOf({ status: 429, headers, error }), {
    title: 'Cannot create: 10 of 10 run',
    remedy: 'End one or raise the limit.',
    code: 'too_many_sessions',
    requestId: 'req_1',
  })
})

test('a server that does not answer, and a fault of the page, are told apart', () => {
  assert.equal(problemOf(new TypeError('Failed to fetch')).title, 'The server does not answer')
  assert.equal(problemOf(new TypeError('x is undefined')).title, 'x is undefined')
})

test('only what may end by itself is tried again', () => {
  assert.deepEqual(
    [400, 401, 404, 429, 500, 503, undefined].map((status) => isFinal({ status })),
    [true, true, true, false, false, false, false],
  )
})
