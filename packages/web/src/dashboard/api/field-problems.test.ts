import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldProblems, problemAt } from './field-problems.ts'

test('a refusal is split by the fields that it names', () => {
  const problems = fieldProblems({
    error: {
      message: 'Cannot accept the request: timeout_seconds: must be at least 10',
      details: [
        { message: 'timeout_seconds: must be at least 10' },
        { message: 'viewport.width: must be at least 320' },
      ],
    },
  })
  assert.equal(problemAt(problems, 'timeout_seconds'), 'must be at least 10')
  assert.equal(problemAt(problems, 'viewport'), 'width: must be at least 320')
  assert.equal(problemAt(problems, 'name'), undefined)
})

test('a refusal that names no field has no problems of fields', () => {
  assert.deepEqual(fieldProblems({ error: { message: 'Cannot create: 10 of 10 run; end one' } }), {})
  assert.deepEqual(fieldProblems(new TypeError('Failed to fetch')), {})
})
