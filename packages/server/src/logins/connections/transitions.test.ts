import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flowStatuses, flowSteps, type FlowStep } from '@berth/contracts/auth-connections'
import {
  after,
  flowEvents,
  flowStates,
  isOver,
  isWaiting,
  statusOf,
  stepIn,
  type FlowState,
} from './transitions.ts'

/** Repeated here on purpose: a change of the table must also be a change of this test. */
const fromEachStep = [
  'discovers → DISCOVERING',
  'submits → SUBMITTING',
  'asks → AWAITING_INPUT',
  'awaits_action → AWAITING_EXTERNAL_ACTION',
  'saves → SAVING',
  'fails → FAILED',
  'expires → EXPIRED',
  'is_canceled → CANCELED',
  'is_dropped → CANCELED',
]
const allowed: Readonly<Record<FlowState, readonly string[]>> = {
  DISCOVERING: fromEachStep,
  AWAITING_INPUT: [...fromEachStep, 'is_answered → SUBMITTING'],
  AWAITING_EXTERNAL_ACTION: [...fromEachStep, 'is_answered → SUBMITTING'],
  SUBMITTING: fromEachStep,
  SAVING: ['succeeds → SUCCESS', 'fails → FAILED', 'is_dropped → CANCELED'],
  SUCCESS: [],
  FAILED: [],
  EXPIRED: [],
  CANCELED: [],
}
const ends: readonly FlowState[] = ['SUCCESS', 'FAILED', 'EXPIRED', 'CANCELED']

for (const state of flowStates) {
  for (const event of flowEvents) {
    const edge = allowed[state].find((each) => each.startsWith(`${event} → `))
    test(`${state}: ${edge ?? `${event} is forbidden`}`, () => {
      const next = after({ state }, event)
      assert.equal(next && `${event} → ${next}`, edge)
    })
  }
}

test('an end has no transition, and every other state leads to each allowed end', () => {
  for (const state of flowStates) {
    const next = flowEvents.flatMap((event) => after({ state }, event) ?? [])
    assert.equal(isOver({ state }), ends.includes(state))
    if (isOver({ state })) assert.deepEqual(next, [])
    else assert.ok(next.includes('FAILED') && next.includes('CANCELED'), state)
  }
})

test('only a login whose profile was saved is a success', () => {
  const before = flowStates.filter((state) =>
    flowEvents.some((event) => after({ state }, event) === 'SUCCESS'),
  )
  assert.deepEqual(before, ['SAVING'])
})

test('a flow that is being saved neither expires nor is canceled, and asks nothing any more', () => {
  for (const event of ['expires', 'is_canceled', 'asks', 'submits', 'discovers', 'is_answered'] as const) {
    assert.equal(after({ state: 'SAVING' }, event), undefined, event)
  }
})

test('only a waiting flow accepts an answer', () => {
  assert.deepEqual(
    flowStates.filter((state) => isWaiting({ state })),
    ['AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION'],
  )
})

test('the shown status is the end, or in progress', () => {
  for (const state of flowStates) {
    assert.equal(statusOf({ state }), ends.includes(state) ? state : 'IN_PROGRESS')
  }
  assert.deepEqual(
    [...new Set(flowStates.map((state) => statusOf({ state })))].toSorted(),
    flowStatuses.toSorted(),
  )
})

test('a success shows the complete step; saving and other ends keep the last step', () => {
  const steps = flowSteps.filter((step): step is Exclude<FlowStep, 'COMPLETED'> => step !== 'COMPLETED')
  for (const step of steps) {
    for (const next of steps) assert.equal(stepIn(next, step), next)
    for (const state of ['SAVING', 'FAILED', 'EXPIRED', 'CANCELED'] as const)
      assert.equal(stepIn(state, step), step)
    assert.equal(stepIn('SUCCESS', step), 'COMPLETED')
  }
})
