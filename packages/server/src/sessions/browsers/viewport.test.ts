import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toViewport } from './viewport.ts'

const rateOf = (width: number, height: number) => toViewport({ width, height }, { gpu: false }).refreshRate

test('toViewport defaults to 1920x1080 at 25 Hz, or 60 Hz with a GPU', () => {
  assert.deepEqual(toViewport(undefined, { gpu: false }), { width: 1920, height: 1080, refreshRate: 25 })
  assert.deepEqual(toViewport(undefined, { gpu: true }), { width: 1920, height: 1080, refreshRate: 60 })
})

test('toViewport gives every preset its documented rate', () => {
  for (const [width, height, hz] of [
    [2560, 1440, 10],
    [1920, 1080, 25],
    [1920, 1200, 25],
    [1440, 900, 25],
    [1280, 800, 60],
    [1024, 768, 60],
    [1200, 800, 60],
    [768, 1024, 60],
    [390, 844, 60],
  ] as const) {
    assert.equal(rateOf(width, height), hz, `${width}x${height}`)
  }
})

test('toViewport keeps a requested rate', () => {
  assert.equal(toViewport({ width: 7680, height: 4320, refresh_rate: 30 }, { gpu: false }).refreshRate, 30)
})
