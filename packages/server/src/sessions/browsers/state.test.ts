import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INITIAL_STATE, isOver, isUsable, states, statesBefore, transitions, type State } from './state.ts'
import type { BrowserRecord } from './types.ts'

// SAFETY: the tested functions only read the state.
const record = (state: State) => ({ state }) as BrowserRecord

/** Repeated on purpose, so that a change of the table needs a change here as well. */
const allowed: readonly string[] = [
  'starting → ready',
  'starting → ending',
  'ready → standby',
  'ready → ending',
  'standby → ready',
  'standby → ending',
  'ending → ended',
]

for (const from of states) {
  for (const to of states) {
    const edge = `${from} → ${to}`
    const isAllowed = allowed.includes(edge)
    test(`${edge} is ${isAllowed ? 'allowed' : 'forbidden'}`, () => {
      assert.equal(transitions[from].includes(to), isAllowed)
      assert.equal(statesBefore(to).includes(from), isAllowed)
    })
  }
}

test('a session starts in state starting, and every state is reachable from there', () => {
  assert.equal(INITIAL_STATE, 'starting')
  const reached = new Set<State>([INITIAL_STATE])
  for (const from of reached) for (const to of transitions[from]) reached.add(to)
  assert.deepEqual([...reached].toSorted(), [...states].toSorted())
})

test('every state leads to ended, which is final', () => {
  for (const state of states) {
    const reached = new Set<State>([state])
    for (const from of reached) for (const to of transitions[from]) reached.add(to)
    assert.ok(reached.has('ended'), state)
  }
  assert.deepEqual(transitions.ended, [])
})

test('a session is usable when ready or on standby, and over when ending or ended', () => {
  assert.deepEqual(
    states.filter((state) => isUsable(record(state))),
    ['ready', 'standby'],
  )
  assert.deepEqual(
    states.filter((state) => isOver(record(state))),
    ['ending', 'ended'],
  )
})
