import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INITIAL_STATE, isOver, isUsable, states, statesBefore, transitions, type State } from './state.ts'
import type { BrowserRecord } from './types.ts'

// SAFETY: only the state is looked at.
const record = (state: State) => ({ state }) as BrowserRecord

/** Written out once more, on purpose: a change of the table is to be a change here as well. */
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

test('a session begins as starting, and every state can be reached from there', () => {
  assert.equal(INITIAL_STATE, 'starting')
  const reached = new Set<State>([INITIAL_STATE])
  for (const from of reached) for (const to of transitions[from]) reached.add(to)
  assert.deepEqual([...reached].toSorted(), [...states].toSorted())
})

test('every state leads to the end, and nothing follows it', () => {
  for (const state of states) {
    const reached = new Set<State>([state])
    for (const from of reached) for (const to of transitions[from]) reached.add(to)
    assert.ok(reached.has('ended'), state)
  }
  assert.deepEqual(transitions.ended, [])
})

test('a session can be used when it is ready or on standby, and is over from ending on', () => {
  assert.deepEqual(
    states.filter((state) => isUsable(record(state))),
    ['ready', 'standby'],
  )
  assert.deepEqual(
    states.filter((state) => isOver(record(state))),
    ['ending', 'ended'],
  )
})
