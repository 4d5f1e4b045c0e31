import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Converter, type Part } from './converter.ts'

const HEAD = 32
const isInside = (x: number, y: number) => x >= 18 && x < 40 && y >= 4 && y < 10
const colour = (x: number, y: number) =>
  ((x * 7 + y * 13) & 255) | (((x * 3) & 255) << 8) | (((y * 5 + x) & 255) << 16)

/** By the formula, pixel by pixel. */
function expected(pixel: (x: number, y: number) => number, size: { width: number; height: number }) {
  const { width, height } = size
  const channels = (x: number, y: number) => {
    const value = pixel(x, y)
    return [value & 255, (value >> 8) & 255, (value >> 16) & 255] as const
  }
  const planes = Buffer.alloc((width * height * 3) / 2)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [b, g, r] = channels(x, y)
      planes[y * width + x] = ((16 * b + 157 * g + 47 * r + 128) >> 8) + 16
    }
  }
  for (let y = 0; y < height; y += 2) {
    for (let x = 0; x < width; x += 2) {
      const four = [channels(x, y), channels(x + 1, y), channels(x, y + 1), channels(x + 1, y + 1)]
      const [b, g, r] = [0, 1, 2].map((index) => four.reduce((sum, each) => sum + each[index]!, 0)) as [
        number,
        number,
        number,
      ]
      const at = width * height + (y / 2) * (width / 2) + x / 2
      planes[at] = ((112 * b - 86 * g - 26 * r + 512) >> 10) + 128
      planes[at + (width * height) / 4] = ((-10 * b - 102 * g + 112 * r + 512) >> 10) + 128
    }
  }
  return planes
}

function fill(room: Buffer, { x, y, width, height }: Part): void {
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      // What is in the fourth byte must not matter.
      room.writeUInt32LE((colour(x + column, y + row) | 0xab000000) >>> 0, HEAD + (row * width + column) * 4)
    }
  }
}

test('every pixel is what the formula says, at any width', () => {
  for (const width of [16, 18, 30, 32, 34, 322]) {
    const size = { width, height: 6 }
    const converter = new Converter(size, { roomBytes: 20_000 })
    const whole = { x: 0, y: 0, ...size }
    fill(converter.room, whole)
    converter.convert(HEAD, whole)
    assert.deepEqual(converter.planes, expected(colour, size), `width ${width}`)
  }
})

test('a part changes only its own pixels', () => {
  const size = { width: 64, height: 12 }
  const converter = new Converter(size, { roomBytes: 20_000 })
  const part = { x: 18, y: 4, width: 22, height: 6 }
  fill(converter.room, part)
  converter.convert(HEAD, part)
  const wanted = expected(colour, size)
  for (let y = 0; y < size.height; y++) {
    for (let x = 0; x < size.width; x++) {
      assert.equal(converter.planes[y * 64 + x], isInside(x, y) ? wanted[y * 64 + x] : 0, `${x},${y}`)
    }
  }
})

test('the basic colours have the values of BT.709', () => {
  const size = { width: 16, height: 2 }
  for (const [name, rgb, yuv] of [
    ['black', 0x000000, [16, 128, 128]],
    ['white', 0xffffff, [235, 128, 128]],
    ['red', 0xff0000, [63, 102, 240]],
    ['green', 0x00ff00, [172, 42, 26]],
    ['blue', 0x0000ff, [32, 240, 118]],
  ] as const) {
    const planes = expected(() => rgb, size)
    const converter = new Converter(size, { roomBytes: 4096 })
    for (let pixel = 0; pixel < 32; pixel++) converter.room.writeUInt32LE(rgb, HEAD + pixel * 4)
    converter.convert(HEAD, { x: 0, y: 0, ...size })
    assert.deepEqual(converter.planes, planes)
    const seen = [planes[0]!, planes[32]!, planes[40]!]
    seen.forEach((value, index) => assert.ok(Math.abs(value - yuv[index]!) <= 1, `${name}: ${seen.join()}`))
  }
})
