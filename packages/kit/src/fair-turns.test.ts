import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairTurns, TooManyWaiting } from './fair-turns.ts'

const never = new AbortController().signal

/** Enters for each key in turn, and writes down the order in which they get in. */
function crowd(turns: FairTurns, keys: string) {
  const inside: { key: string; leave: () => void }[] = []
  const order: string[] = []
  const enter = async (key: string) => {
    const place = await turns.enter(key, never)
    order.push(key)
    inside.push({ key, leave: () => place[Symbol.dispose]() })
  }
  for (const key of keys) void enter(key)
  return { inside, order }
}
const settle = () => new Promise((resolve) => void setImmediate(resolve))

test('keys that wait take turns, and each has its own bound', async () => {
  const turns = new FairTurns({ atOnce: 2, atOncePerKey: 1, maxWaitingPerKey: 8 })
  const { inside, order } = crowd(turns, 'aaaabbc')
  await settle()
  assert.deepEqual(order, ['a', 'b'])
  while (inside.length > 0) {
    assert.ok(inside.length <= 2)
    inside.shift()!.leave()
    await settle()
  }
  assert.deepEqual(order, ['a', 'b', 'a', 'b', 'c', 'a', 'a'])
})

test('one key with a full queue is refused, others are not', async () => {
  const turns = new FairTurns({ atOnce: 1, atOncePerKey: 1, maxWaitingPerKey: 1 })
  const first = await turns.enter('a', never)
  const second = turns.enter('a', never)
  await assert.rejects(turns.enter('a', never), TooManyWaiting)
  const other = turns.enter('b', never)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  ;(await second)[Symbol.dispose]()
  ;(await other)[Symbol.dispose]()
  await turns.enter('a', never)
})

test('whoever leaves while waiting takes no turn', async () => {
  const turns = new FairTurns({ atOnce: 1, atOncePerKey: 1, maxWaitingPerKey: 1 })
  const first = await turns.enter('a', never)
  const gone = new AbortController()
  const second = turns.enter('a', gone.signal)
  gone.abort(new Error('gone'))
  await assert.rejects(second, /gone/)
  const third = turns.enter('b', never)
  first[Symbol.dispose]()
  ;(await third)[Symbol.dispose]()
  await assert.rejects(turns.enter('a', gone.signal), /gone/)
})

test('when all wait in a crowd, a key may still wait with less than its share', async () => {
  const turns = new FairTurns({ atOnce: 1, atOncePerKey: 1, maxWaitingPerKey: 4, maxWaiting: 4 })
  const gone = new AbortController()
  const first = await turns.enter('a', never)
  const waiting = ['a', 'a', 'a', 'a', 'b', 'b'].map((key) => turns.enter(key, gone.signal))
  await assert.rejects(turns.enter('a', never), TooManyWaiting)
  await assert.rejects(turns.enter('b', never), TooManyWaiting)
  first[Symbol.dispose]()
  ;(await waiting[0]!)[Symbol.dispose]()
  ;(await waiting[4]!)[Symbol.dispose]()
  ;(await waiting[1]!)[Symbol.dispose]()
  const left = Promise.allSettled([waiting[2], waiting[3]])
  gone.abort(new Error('gone'))
  await left
})
