import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { SerialQueue } from './serial-queue.ts'

test('SerialQueue does one thing after another, in order', async () => {
  const queue = new SerialQueue()
  const seen: string[] = []
  const work = (name: string, ms: number) =>
    queue.run(async () => {
      seen.push(`${name} begins`)
      await delay(ms)
      seen.push(`${name} ends`)
      return name
    })
  assert.deepEqual(await Promise.all([work('one', 10), work('two', 0)]), ['one', 'two'])
  assert.deepEqual(seen, ['one begins', 'one ends', 'two begins', 'two ends'])
})

test('SerialQueue goes on after a failure, which only its own caller sees', async () => {
  const queue = new SerialQueue()
  const failing = queue.run(() => Promise.reject(new Error('broken')))
  const throwing = queue.run(() => {
    throw new Error('thrown')
  })
  const next = queue.run(() => 'fine')
  await assert.rejects(failing, /broken/)
  await assert.rejects(throwing, /thrown/)
  assert.equal(await next, 'fine')
})

test('SerialQueue counts what is under way or waits, and says when all is over', async () => {
  const queue = new SerialQueue()
  assert.equal(queue.size, 0)
  const first = Promise.withResolvers<void>()
  void queue.run(() => first.promise)
  void queue.run(() => Promise.reject(new Error('broken'))).catch(() => {})
  assert.equal(queue.size, 2)
  let isSettled = false
  const settled = queue.settled().then(() => (isSettled = true))
  await delay(1)
  assert.equal(isSettled, false)
  first.resolve()
  await settled
  assert.equal(queue.size, 0)
})
