import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerBudget } from './answer-budget.ts'

const never = new AbortController().signal
const newBudget = () => new AnswerBudget({ freeBytes: 10, maxBytesPerAgent: 60, maxSharedBytes: 100 })

test('one agent holds so much, and is refused beyond', async () => {
  const budget = newBudget()
  const agent = {}
  const [first, second] = [budget.shareOf(agent), budget.shareOf(agent)]
  await first.take(50, never)
  await assert.rejects(second.take(11, never), /more than 60 bytes together/)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  await second.take(60, never)
})

test('when all is held, others wait in order, and the free bytes of each agent stay free', async () => {
  const budget = newBudget()
  const hostile = [{}, {}].map((agent) => budget.shareOf(agent))
  for (const share of hostile) await share.take(60, never)
  const order: string[] = []
  const [third, fourth] = [budget.shareOf({}), budget.shareOf({})]
  const waiting = [
    third.take(50, never).then(() => order.push('third')),
    fourth.take(11, never).then(() => order.push('fourth')),
  ]
  // Small answers need no turn.
  await budget.shareOf({}).take(10, never)
  assert.deepEqual(order, [])
  hostile[0]![Symbol.dispose]()
  await Promise.all(waiting)
  assert.deepEqual(order, ['third', 'fourth'])
})

test('a reader that stops waiting holds no part of the budget', async () => {
  const budget = newBudget()
  const held = [{}, {}].map((agent) => budget.shareOf(agent))
  for (const share of held) await share.take(60, never)
  const late = new AbortController()
  const share = budget.shareOf({})
  const attempt = share.take(20, late.signal)
  late.abort(new Error('too late'))
  await assert.rejects(attempt, /too late/)
  for (const each of held) each[Symbol.dispose]()
  await budget.shareOf({}).take(60, never)
})
