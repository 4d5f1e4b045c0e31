import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { PassThrough } from 'node:stream'
import { oneByOne } from './one-by-one.ts'

const endless = { pause: () => {}, resume: () => {} }

test('what follows from a message is done before the next message', async () => {
  const order: string[] = []
  const take = oneByOne((message) => {
    order.push(message)
    void (async () => {
      for (let step = 0; step < 50; step++) await Promise.resolve()
      order.push(`after ${message}`)
    })()
  }, endless)
  for (const message of ['a', 'b', 'c']) take(message)
  assert.deepEqual(order, [])
  while (order.length < 6) await setImmediate()
  assert.deepEqual(order, ['a', 'after a', 'b', 'after b', 'c', 'after c'])
})

test('a message that comes while another is handled keeps its place', async () => {
  const order: string[] = []
  const done = new PassThrough()
  const take = oneByOne((message) => {
    order.push(message)
    if (message === 'a') take('c')
    if (message === 'c') done.end()
  }, endless)
  take('a')
  take('b')
  done.resume()
  await once(done, 'end')
  assert.deepEqual(order, ['a', 'b', 'c'])
})

test('nothing more is read until all messages are handed over', async () => {
  const order: string[] = []
  const source = { pause: () => void order.push('pause'), resume: () => void order.push('resume') }
  const take = oneByOne((message) => void order.push(message), source)
  for (const message of ['a', 'b']) take(message)
  while (order.length < 4) await setImmediate()
  assert.deepEqual(order, ['pause', 'a', 'resume', 'b'])
})
