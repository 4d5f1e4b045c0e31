import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shrink } from './shrink.ts'

/** As converter.ts makes them: luma, then both colours at half size. */
function planesOf(
  { width, height }: { width: number; height: number },
  at: (x: number, y: number) => [number, number, number],
) {
  const plane = (part: 0 | 1 | 2, scale: number) =>
    Array.from(
      { length: (width / scale) * (height / scale) },
      (_none, index) =>
        at((index % (width / scale)) * scale, Math.floor(index / (width / scale)) * scale)[part],
    )
  return Uint8Array.from([...plane(0, 1), ...plane(1, 2), ...plane(2, 2)])
}

/** BT.709 in limited range, and the same colour as JPEG files have it. */
const colours = {
  black: { given: [16, 128, 128], wanted: [0, 128, 128] },
  white: { given: [235, 128, 128], wanted: [255, 128, 128] },
  red: { given: [63, 102, 240], wanted: [76, 85, 255] },
  blue: { given: [32, 240, 118], wanted: [29, 255, 107] },
  green: { given: [173, 42, 26], wanted: [150, 44, 21] },
} as const

for (const [name, { given, wanted }] of Object.entries(colours)) {
  test(`${name} stays ${name}`, () => {
    const size = { width: 64, height: 48 }
    const { luma, blue, red, ...small } = shrink(
      planesOf(size, () => [...given]),
      size,
      16,
    )
    assert.deepEqual(small, { width: 16, height: 12 })
    for (const [plane, value] of [
      [luma, wanted[0]],
      [blue, wanted[1]],
      [red, wanted[2]],
    ] as const) {
      for (const each of plane) assert.ok(Math.abs(each - value) <= 3, `${each} is not ${value}`)
    }
  })
}

test('fine lines become grey, and halves stay apart', () => {
  const size = { width: 128, height: 64 }
  const { luma } = shrink(
    planesOf(size, (x, y) => [x < 64 ? (y & 1 ? 235 : 16) : 235, 128, 128]),
    size,
    32,
  )
  assert.ok(Math.abs(luma[0]! - 128) <= 2)
  assert.equal(luma[31], 255)
})

test('sizes that do not divide have every pixel, and a narrow picture is not enlarged', () => {
  const size = { width: 130, height: 98 }
  const planes = planesOf(size, () => [235, 128, 128])
  for (const width of [1, 33, 64, 129, 130, 500]) {
    const small = shrink(planes, size, width)
    assert.equal(small.width, Math.min(130, width))
    assert.equal(small.luma.length, small.width * small.height)
    assert.ok(small.luma.every((value) => value === 255))
    assert.equal(small.blue.length, ((small.width + 1) >> 1) * ((small.height + 1) >> 1))
  }
})
