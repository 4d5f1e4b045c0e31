import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bands, toFetch } from './parts.ts'

const size = { width: 1280, height: 720 }
const part = (x: number, y: number, width: number, height: number) => ({ x, y, width, height })

test('fetched parts cover the changes, are even, wide enough and on the screen', () => {
  for (const [changed, wanted] of [
    [part(0, 0, 1280, 720), part(0, 0, 1280, 720)],
    [part(101, 33, 100, 51), part(100, 32, 102, 52)],
    [part(7, 7, 1, 1), part(6, 6, 16, 2)],
    [part(1279, 719, 1, 1), part(1264, 718, 16, 2)],
    [part(-50, -50, 60, 60), part(0, 0, 16, 10)],
    [part(1200, 700, 500, 500), part(1200, 700, 80, 20)],
  ] as const) {
    assert.deepEqual(toFetch([changed], size), [wanted])
  }
  assert.deepEqual(toFetch([part(2000, 0, 10, 10), part(0, 800, 10, 10)], size), [])
})

test('many parts, or parts that fill most of their bounding box, become one', () => {
  const apart = [part(0, 0, 20, 20), part(1000, 600, 20, 20)]
  assert.equal(toFetch(apart, size).length, 2)
  const many = Array.from({ length: 20 }, (_each, index) => part(index * 40, 0, 16, 2))
  assert.deepEqual(toFetch(many, size), [part(0, 0, 776, 2)])
  assert.deepEqual(toFetch([part(0, 0, 100, 100), part(0, 100, 100, 100)], size), [part(0, 0, 100, 200)])
})

test('bands have an even height, cover the part and do not exceed the limit', () => {
  const whole = part(0, 10, 1280, 700)
  const pieces = bands(whole, 256 * 1024)
  assert.ok(pieces.every(({ height, width }) => height % 2 === 0 && height * width * 4 <= 256 * 1024))
  assert.equal(
    pieces.reduce((sum, { height }) => sum + height, 0),
    700,
  )
  assert.deepEqual(bands(part(0, 0, 7680, 4), 1024), [part(0, 0, 7680, 2), part(0, 2, 7680, 2)])
})
