import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Clock } from './clock.ts'
import { Random } from './random.ts'

test('everything happens in the order of its time, and at the same time in the order in which it was set', () => {
  const clock = new Clock()
  const random = new Random(7)
  const seen: { at: number; set: number }[] = []
  for (let set = 0; set < 500; set++) {
    const at = random.below(50)
    clock.after(at, () => seen.push({ at: clock.now, set }))
  }
  clock.runUntil(25)
  assert.equal(clock.now, 25)
  assert.ok(seen.every(({ at }) => at < 25))
  clock.runUntil(100)
  assert.equal(seen.length, 500)
  const sorted = seen.toSorted((one, other) => one.at - other.at || one.set - other.set)
  assert.deepEqual(seen, sorted)
})

test('a process goes on when what it waits for is over', () => {
  const clock = new Clock()
  const seen: number[] = []
  clock.start(
    (function* () {
      yield clock.pause(2)
      seen.push(clock.now)
      yield clock.pause(3)
      seen.push(clock.now)
    })(),
  )
  clock.runUntil(10)
  assert.deepEqual(seen, [2, 5])
})

function draw(seed: number): number[] {
  const random = new Random(seed)
  return Array.from({ length: 20_000 }, () => random.exponential(4))
}

test('the same seed gives the same numbers, of the right mean', () => {
  assert.deepEqual(draw(3).slice(0, 5), draw(3).slice(0, 5))
  const mean = draw(3).reduce((sum, each) => sum + each, 0) / 20_000
  assert.ok(Math.abs(mean - 4) < 0.1, String(mean))
})
