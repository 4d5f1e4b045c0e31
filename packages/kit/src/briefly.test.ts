import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Briefly } from './briefly.ts'

function counting(maxKeys = 10) {
  let now = 0
  let made = 0
  const briefly = new Briefly<number>({ forMs: 100, maxKeys, now: () => now })
  return {
    get: (key: string) => briefly.get(key, async () => ++made),
    pass: (ms: number) => (now += ms),
    briefly,
  }
}

test('an answer is shared at once and remembered for a while', async () => {
  const { get, pass } = counting()
  assert.deepEqual(await Promise.all([get('a'), get('a'), get('b')]), [1, 1, 2])
  pass(99)
  assert.equal(await get('a'), 1)
  pass(1)
  assert.equal(await get('a'), 3)
})

test('of too many, the oldest is forgotten', async () => {
  const { get } = counting(2)
  await get('a')
  await get('b')
  await get('c')
  assert.equal(await get('b'), 2)
  assert.equal(await get('a'), 4)
})

test('an error is not remembered', async () => {
  const { get, briefly } = counting()
  await assert.rejects(
    briefly.get('a', () => Promise.reject(new Error('down'))),
    /down/,
  )
  assert.equal(await get('a'), 1)
})
