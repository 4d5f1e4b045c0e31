import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paintPointer } from './paint-pointer.ts'

const size = { width: 16, height: 8 }
const PIXELS = size.width * size.height
const luma = (planes: Buffer, x: number, y: number) => planes[y * size.width + x]
const blue = (planes: Buffer, x: number, y: number) => planes[PIXELS + (y / 2) * (size.width / 2) + x / 2]

function greyPicture(): Buffer {
  const planes = Buffer.alloc((PIXELS * 3) / 2, 128)
  planes.fill(100, 0, PIXELS)
  return planes
}

function pointerAt(x: number, y: number, { side, pixel }: { side: number; pixel: readonly number[] }) {
  const pixels = Buffer.alloc(side * side * 4)
  for (let at = 0; at < pixels.length; at += 4) pixels.set(pixel, at)
  return { x, y, width: side, height: side, pixels }
}

test('a pointer is painted with its opacity, and removed without a trace', () => {
  const planes = greyPicture()
  const before = Buffer.from(planes)
  const undo = paintPointer(planes, size, pointerAt(4, 2, { side: 2, pixel: [255, 0, 0, 255] }))
  assert.equal(luma(planes, 4, 2), Math.floor(16 + (16 * 255) / 256))
  assert.equal(luma(planes, 6, 2), 100)
  assert.equal(blue(planes, 4, 2), Math.floor(128 + (112 * 255) / 256))
  assert.equal(blue(planes, 6, 2), 128)
  undo()
  assert.deepEqual(planes, before)

  // Colours are premultiplied: this is half-transparent white.
  const undoHalf = paintPointer(planes, size, pointerAt(4, 2, { side: 2, pixel: [128, 128, 128, 128] }))
  const half = 128 / 255
  assert.equal(luma(planes, 4, 2), Math.floor(100 * (1 - half) + 16 * half + (220 * 128) / 256))
  assert.ok(Math.abs(blue(planes, 4, 2)! - 128) <= 1)
  undoHalf()
  assert.deepEqual(planes, before)
})

test('only the part on the screen is painted', () => {
  const pixel = [255, 255, 255, 255]
  for (const [x, y, painted] of [
    [-3, -3, 1],
    [15, 7, 1],
    [-4, 0, 0],
    [16, 0, 0],
    [0, -10, 0],
    [6, 6, 8],
  ] as const) {
    const planes = greyPicture()
    const before = Buffer.from(planes)
    const undo = paintPointer(planes, size, pointerAt(x, y, { side: 4, pixel }))
    const changed = planes.subarray(0, PIXELS).filter((value) => value !== 100).length
    assert.equal(changed, painted, `at ${x}, ${y}`)
    undo()
    assert.deepEqual(planes, before)
  }
})
