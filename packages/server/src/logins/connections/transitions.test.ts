import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flowStatuses, flowSteps } from '@berth/contracts/auth-connections'
import { after, flowEvents, isOver, isWaiting, type FlowState } from './transitions.ts'

const live = flowSteps.filter((step) => step !== 'COMPLETED')
const at = (step: (typeof flowSteps)[number]): FlowState => ({ status: 'IN_PROGRESS', step })

const ends = (step: string) => [
  `${step} succeeds SUCCESS`,
  `${step} fails FAILED`,
  `${step} expires EXPIRED`,
  `${step} is_canceled CANCELED`,
]
const waits = (step: string) => [
  `${step} asks AWAITING_INPUT`,
  `${step} awaits_action AWAITING_EXTERNAL_ACTION`,
]

test('every way of the table, and no other', () => {
  const ways = live.flatMap((step) =>
    flowEvents.flatMap((event) => {
      const next = after(at(step), event)
      return next ? [`${step} ${event} ${next.status === 'IN_PROGRESS' ? next.step : next.status}`] : []
    }),
  )
  assert.deepEqual(ways, [
    'DISCOVERING discovers DISCOVERING',
    'DISCOVERING submits SUBMITTING',
    ...waits('DISCOVERING'),
    ...ends('DISCOVERING'),
    'AWAITING_INPUT discovers DISCOVERING',
    'AWAITING_INPUT submits SUBMITTING',
    ...waits('AWAITING_INPUT'),
    ...ends('AWAITING_INPUT'),
    'AWAITING_EXTERNAL_ACTION discovers DISCOVERING',
    'AWAITING_EXTERNAL_ACTION submits SUBMITTING',
    ...waits('AWAITING_EXTERNAL_ACTION'),
    ...ends('AWAITING_EXTERNAL_ACTION'),
    'SUBMITTING discovers DISCOVERING',
    'SUBMITTING submits SUBMITTING',
    ...waits('SUBMITTING'),
    ...ends('SUBMITTING'),
  ])
})

test('nothing follows an end', () => {
  for (const status of flowStatuses.filter((each) => each !== 'IN_PROGRESS')) {
    for (const step of flowSteps) {
      for (const event of flowEvents) assert.equal(after({ status, step }, event), undefined)
      assert.ok(isOver({ status }))
      assert.ok(!isWaiting({ status, step }))
    }
  }
})

test('a success is complete, another end keeps the step that was reached', () => {
  for (const step of live) {
    assert.deepEqual(after(at(step), 'succeeds'), { status: 'SUCCESS', step: 'COMPLETED' })
    assert.deepEqual(after(at(step), 'fails'), { status: 'FAILED', step })
    assert.deepEqual(after(at(step), 'expires'), { status: 'EXPIRED', step })
    assert.deepEqual(after(at(step), 'is_canceled'), { status: 'CANCELED', step })
  }
})
