import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secrets } from '../secrets/secrets.ts'
import { Ring } from './ring.ts'

const line = (ring: Ring, text = '') =>
  ring.emit({ type: 'console_log', source: { kind: 'cdp' }, data: { text } })
const numbersOf = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((each) => (JSON.parse(each) as { n: number }).n)

/** All events after a number, in as many reads as it takes. */
function readAll(ring: Ring, from: number): number[] {
  const numbers: number[] = []
  for (let position = from; ;) {
    const { text, last } = ring.after(position)
    if (text === '') return numbers
    numbers.push(...numbersOf(text))
    position = last
  }
}

test('events are numbered, and can be read after any number', () => {
  const ring = new Ring(new Secrets())
  for (let count = 0; count < 5; count++) line(ring)
  assert.deepEqual(readAll(ring, 0), [1, 2, 3, 4, 5])
  assert.deepEqual(readAll(ring, 3), [4, 5])
  assert.deepEqual(readAll(ring, 5), [])
  assert.deepEqual(readAll(ring, 99), [])
})

test('dropped events leave a gap of as many numbers', () => {
  const ring = new Ring(new Secrets())
  line(ring)
  ring.drop(10)
  line(ring)
  assert.deepEqual(readAll(ring, 0), [1, 12])
})

test('the oldest events are dropped when there are too many or they are too large', () => {
  const many = new Ring(new Secrets())
  for (let count = 0; count < 20_000; count++) line(many)
  const kept = readAll(many, 0)
  assert.equal(kept.at(-1), 20_000)
  assert.equal(kept.length, 8_192)
  const large = new Ring(new Secrets())
  for (let count = 0; count < 30; count++) line(large, 'x'.repeat(1_000_000))
  assert.equal(readAll(large, 0).at(-1), 30)
  assert.ok(readAll(large, 0).length <= 8)
})

test('an event that is too large to send becomes a gap', () => {
  const ring = new Ring(new Secrets())
  line(ring, 'x'.repeat(2_000_000))
  line(ring)
  assert.deepEqual(readAll(ring, 0), [2])
})

test('a waiting reader wakes at the next event, and when it stops waiting', async () => {
  const ring = new Ring(new Secrets())
  const over = new AbortController()
  const changed = ring.changed(over.signal)
  line(ring)
  await changed
  const waiting = ring.changed(over.signal)
  over.abort()
  await waiting
})
