import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StateBoard } from './state.ts'

const MAX_CHARACTERS = 4_000

function told(failure: string): string {
  const board = new StateBoard()
  board.update({ browser: 'failed', failure })
  return board.current.failure!
}

test('a long failure keeps the line that says what failed, and the end of the output', () => {
  const failure = told(`Cannot start Chromium: it is not ready\n${'x'.repeat(10_000)}\nthe last words`)
  assert.equal(failure.length, MAX_CHARACTERS)
  assert.match(failure, /^Cannot start Chromium: it is not ready\nx/)
  assert.match(failure, /x\nthe last words$/)
})

test('a short failure stays as it is, and a first line without end leaves room for the output', () => {
  assert.equal(told('short\noutput'), 'short\noutput')
  const failure = told(`${'y'.repeat(10_000)}\nthe last words`)
  assert.equal(failure.length, MAX_CHARACTERS)
  assert.match(failure, /^y{2000}\n.*the last words$/s)
})
