import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownEvent } from './event.ts'
import { Pending } from './pending.ts'

const event = (size = 0) => ownEvent({ type: 'api_call', data: { text: 'x'.repeat(size) } })

test('take returns as many events as fit into one segment, and at least one', () => {
  const pending = new Pending()
  for (let count = 0; count < 4; count++) pending.add(event(300_000))
  assert.equal(pending.isFull, true)
  assert.equal(pending.take().length, 1)
  pending.add(event(2_000_000))
  assert.deepEqual(
    [pending.take(), pending.take(), pending.take()].map((items) => items.length),
    [1, 1, 1],
  )
  assert.equal(pending.take().length, 1)
  assert.equal(pending.take().length, 0)
  assert.equal(pending.isFull, false)
})

test('returned events come first again', () => {
  const pending = new Pending()
  pending.add(event(), 1)
  const taken = pending.take()
  pending.add(event(), 2)
  pending.giveBack(taken)
  assert.deepEqual(
    pending.take().map((item) => 'position' in item && item.position),
    [1, 2],
  )
})

test('a gap alone does not count as an event, and it grows', () => {
  const pending = new Pending()
  pending.drop(3)
  pending.drop(4)
  assert.equal(pending.hasEvents, false)
  pending.add(event())
  assert.equal(pending.hasEvents, true)
  assert.deepEqual(pending.take()[0], { dropped: 7 })
})

test('excess events of the server itself are dropped and counted', () => {
  const pending = new Pending()
  const added = Array.from({ length: 2_500 }, () => pending.addOwn(event())).filter(Boolean).length
  assert.equal(added, 2_000)
  assert.equal(pending.take().length, 2_000)
  assert.equal(pending.hasEvents, false, 'a gap waits for the event after it')
  pending.addOwn(event())
  assert.deepEqual(pending.take()[0], { dropped: 500 })
})
