import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldProblems, problemAt } from './field-problems.ts'

const details = (message: string) => fieldProblems({ error: { message, details: [{ message }] } })

test('a refusal is split by the fields that it names', () => {
  const problems = fieldProblems({
    error: {
      message: 'Cannot accept the request: timeout_seconds: must be at least 10',
      details: [
        { message: 'timeout_seconds: must be at least 10' },
        { message: 'viewport.width: must be at least 320' },
        { message: 'bypass_hosts[1]: must not have a port' },
      ],
    },
  })
  assert.equal(problemAt(problems, 'timeout_seconds'), 'Must be at least 10.')
  assert.equal(problemAt(problems, 'viewport.width'), 'Must be at least 320.')
  assert.equal(problemAt(problems, 'viewport'), 'Width: must be at least 320.')
  assert.equal(problemAt(problems, 'bypass_hosts'), '[1]: must not have a port.')
  assert.equal(problemAt(problems, 'name'), undefined)
  assert.equal(problemAt(problems, 'time'), undefined)
})

test('a reason may have a colon of its own', () => {
  assert.equal(
    problemAt(details('type: cannot be "isp": use a custom one'), 'type'),
    'Cannot be "isp": use a custom one.',
  )
})

test('a name that is taken is a problem of the name', () => {
  const taken = fieldProblems({ error: { message: 'Cannot use name "a: b": another profile has it' } })
  assert.equal(problemAt(taken, 'name'), 'Another profile has it.')
  assert.equal(problemAt(taken, 'nam'), undefined)
})

test('a refusal that names no field has no problems of fields', () => {
  assert.deepEqual(fieldProblems({ error: { message: 'Cannot create: 10 of 10 run; end one' } }), {})
  assert.deepEqual(fieldProblems(new TypeError('Failed to fetch')), {})
  assert.deepEqual(fieldProblems(undefined), {})
  assert.deepEqual(fieldProblems(null), {})
})
