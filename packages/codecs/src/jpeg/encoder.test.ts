// Decoded by Chromium's own decoder elsewhere (tests/agent/preview.test.ts); here by ffmpeg, pixel by pixel.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { jpegSize } from '../video/jpeg-size.ts'
import { encodeJpeg, type Planes } from './encoder.ts'

function picture(width: number, height: number, paint: (x: number, y: number) => number[]): Planes {
  const half = { width: (width + 1) >> 1, height: (height + 1) >> 1 }
  const plane = (w: number, h: number, part: number, scale: number) =>
    Uint8Array.from(
      { length: w * h },
      (_none, at) => paint((at % w) * scale, Math.floor(at / w) * scale)[part]!,
    )
  return {
    width,
    height,
    luma: plane(width, height, 0, 1),
    blue: plane(half.width, half.height, 1, 2),
    red: plane(half.width, half.height, 2, 2),
  }
}

/** Its luma, as a decoder that we did not write reads it. */
function decodedLuma(jpeg: Buffer): Buffer {
  const words = '-v error -f mjpeg -i pipe:0 -f rawvideo -pix_fmt gray pipe:1'.split(' ')
  const { stdout, stderr, status } = spawnSync('ffmpeg', words, { input: jpeg, maxBuffer: 2 ** 26 })
  assert.equal(status, 0, stderr.toString())
  assert.equal(stderr.toString(), '')
  return stdout
}

const gradient = (x: number, y: number) => [(x * 2 + y) & 0xff, 90, 200]
const noise = (x: number, y: number) => [
  ((x * 7919) ^ (y * 104_729) ^ (x * y * 31)) & 0xff,
  (x * 37) & 0xff,
  1,
]

for (const [width, height] of [
  [320, 180],
  [17, 3],
  [1, 1],
  [64, 100],
] as const) {
  test(`a picture of ${width}x${height} has its size and its pixels`, () => {
    const given = picture(width, height, (x, y) => [Math.min(235, 20 + x / 2 + y / 2), 90, 200])
    const jpeg = encodeJpeg(given, 90)
    assert.deepEqual(jpegSize(jpeg), { width, height })
    const luma = decodedLuma(jpeg)
    assert.equal(luma.length, width * height)
    const worst = Math.max(...luma.map((value, at) => Math.abs(value - given.luma[at]!)))
    assert.ok(worst <= 6, `differs by ${worst}`)
  })
}

test('noise is encoded at every quality, and lower quality is smaller', () => {
  const given = picture(160, 96, noise)
  const sizes = [1, 30, 60, 100].map((quality) => {
    const jpeg = encodeJpeg(given, quality)
    assert.equal(decodedLuma(jpeg).length, 160 * 96)
    return jpeg.length
  })
  assert.deepEqual(
    sizes,
    sizes.toSorted((one, other) => one - other),
  )
})

test('the same picture is the same bytes', () => {
  const given = picture(100, 50, gradient)
  assert.deepEqual(encodeJpeg(given, 60), encodeJpeg(given, 60))
})

test('a picture without pixels, or with too many, is refused', () => {
  assert.throws(() => encodeJpeg(picture(0, 5, gradient), 60), /0x5/)
  assert.throws(() => encodeJpeg({ ...picture(1, 1, gradient), width: 5000 }, 60), /5000x1/)
})
