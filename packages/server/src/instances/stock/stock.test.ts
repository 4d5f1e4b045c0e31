import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Semaphore } from '@berth/kit/semaphore'
import type { ReadyInstance } from './instances.ts'
import { Stock } from './stock.ts'

const SIZE = 6

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Instances that are ready when the test says so. */
function startStock({ atOnce, turns = atOnce }: { atOnce: number; turns?: number }) {
  const closing = new AbortController()
  const starts: PromiseWithResolvers<ReadyInstance>[] = []
  const stock = new Stock({
    name: 'headless',
    size: SIZE,
    atOnce,
    turns: new Semaphore(turns),
    closing: closing.signal,
    log: pino({ level: 'silent' }),
    make: () => {
      const start = Promise.withResolvers<ReadyInstance>()
      starts.push(start)
      return start.promise
    },
  })
  return {
    stock,
    starts,
    close: async () => {
      closing.abort()
      for (const { reject } of starts) reject(new Error('closing'))
      await stock.settled
    },
    /** Waits until so many starts have begun. */
    begun: async (count: number) => {
      while (starts.length < count) await settle()
      await settle()
      assert.equal(starts.length, count)
    },
    finish: (index: number) => starts[index]!.resolve({ instance: {}, agent: {} } as ReadyInstance),
  }
}

test('makes as many at once as it may, and the next when one is ready', async () => {
  const { stock, begun, finish, close } = startStock({ atOnce: 4 })
  stock.refill({ afterMs: 0 })
  await begun(4)
  finish(2)
  await begun(5)
  finish(0)
  await begun(6)
  for (const index of [1, 3, 4, 5]) finish(index)
  await stock.settled
  assert.equal(stock.count, SIZE)
  await close()
})

test('what is claimed while others are made is made as well', async () => {
  const { stock, begun, finish, close } = startStock({ atOnce: 4 })
  stock.refill({ afterMs: 0 })
  await begun(4)
  finish(0)
  await begun(5)
  finish(1)
  await begun(6)
  assert.ok(stock.take('project'))
  assert.ok(stock.take('project'))
  stock.refill({ afterMs: 0 })
  for (const index of [2, 3]) finish(index)
  await begun(8)
  for (const index of [4, 5, 6, 7]) finish(index)
  await stock.settled
  assert.equal(stock.count, SIZE)
  await close()
})

test('makes one at a time where only one may start', async () => {
  const { stock, begun, finish, close } = startStock({ atOnce: 1 })
  stock.refill({ afterMs: 0 })
  for (let index = 0; index < SIZE; index++) {
    await begun(index + 1)
    finish(index)
  }
  await stock.settled
  assert.equal(stock.count, SIZE)
  await close()
})

test('a failed start is made up for after a moment, and does not hold up the others', async () => {
  const { stock, starts, begun, finish, close } = startStock({ atOnce: 2 })
  stock.refill({ afterMs: 0 })
  await begun(2)
  starts[0]!.reject(new Error('no room'))
  for (const index of [1, 2, 3, 4]) {
    finish(index)
    await begun(index + 2)
  }
  finish(5)
  await begun(7)
  finish(6)
  await stock.settled
  assert.equal(stock.count, SIZE)
  await close()
})
