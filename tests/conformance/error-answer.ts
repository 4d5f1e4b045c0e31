// The common shape of all errors.
import assert from 'node:assert/strict'
import { errorCatalogue, type ErrorBody, type ErrorCode } from '@berth/contracts/errors'
import type { Answer } from './http-exchange.ts'

const KNOWN_FIELDS = new Set(['code', 'message', 'details', 'inner_error', 'existing_id'])

/** Checks shape, code, status and headers; returns the body for further checks. */
export function assertError(answer: Answer, code: ErrorCode | readonly ErrorCode[], what = ''): ErrorBody {
  const shown = `${what}: ${answer.status} ${answer.text.slice(0, 300)}`
  const body = assertErrorShape(answer, what)
  assert.ok([code].flat().includes(body.code as ErrorCode), `${shown} is not ${[code].flat().join(' or ')}`)
  return body
}

export function assertErrorShape(answer: Answer, what = ''): ErrorBody {
  const shown = `${what}: ${answer.status} ${answer.text.slice(0, 300)}`
  assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/, shown)
  const body = answer.json as ErrorBody
  assert.ok(typeof body === 'object' && body !== null && !Array.isArray(body), shown)
  for (const field of Object.keys(body)) assert.ok(KNOWN_FIELDS.has(field), `${shown} has field ${field}`)
  assert.ok(Object.hasOwn(errorCatalogue, body.code), `${shown} has a code of no catalogue`)
  const row = errorCatalogue[body.code as ErrorCode]
  assert.equal(answer.status, row.status, shown)
  assert.ok(typeof body.message === 'string' && body.message.length > 0, `${shown} has no message`)
  for (const detail of [...(body.details ?? []), ...(body.inner_error ? [body.inner_error] : [])]) {
    assert.deepEqual(
      Object.keys(detail).filter((field) => field !== 'code' && field !== 'message'),
      [],
      shown,
    )
  }
  assert.equal(
    answer.headers['x-should-retry'],
    row.final ? 'false' : undefined,
    `x-should-retry of ${shown}`,
  )
  assert.equal(answer.headers['www-authenticate'], answer.status === 401 ? 'Bearer' : undefined, shown)
  return body
}
