import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnOrder } from './turn-order.ts'

const pool = (id: string) => ({ id, projectId: id[0]! })
const pools = ['a1', 'a2', 'a3', 'b1'].map(pool)

test('projects take turns, however many pools they have, and the pools of a project take its turns', () => {
  const turns = new TurnOrder()
  const served: string[] = []
  for (let round = 0; round < 6; round++) {
    const [first] = turns.inOrder(pools)
    turns.served(first!)
    served.push(first!.id)
  }
  assert.deepEqual(served, ['a1', 'b1', 'a2', 'b1', 'a3', 'b1'])
})

test('without turns so far, the given order stays', () => {
  assert.deepEqual(new TurnOrder().inOrder(pools), pools)
})
