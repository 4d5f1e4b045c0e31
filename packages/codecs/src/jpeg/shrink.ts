// Makes a small picture of the planes that a video encoder takes: each of its pixels is the mean of pixels that it replaces.
// Then converts the colours: videos are BT.709 in limited range, JPEG files BT.601 in full range.
import type { Planes } from './encoder.ts'

interface Size {
  readonly width: number
  readonly height: number
}

/** In limited range, black is 16, white 235, and colours are 16 to 240. */
const BLACK = 16
const BRIGHTER = 255 / 219
const MORE_COLOUR = 255 / 224
const GREY = 128

/** `planes` is yuv420p of an even size. The result is `width` wide, and never larger than the original. */
export function shrink(planes: Uint8Array, size: Size, width: number): Planes {
  const ratio = Math.min(1, width / size.width)
  const small = {
    width: Math.max(1, Math.round(size.width * ratio)),
    height: Math.max(1, Math.round(size.height * ratio)),
  }
  const pixels = size.width * size.height
  const half = { width: size.width / 2, height: size.height / 2 }
  const smallHalf = { width: (small.width + 1) >> 1, height: (small.height + 1) >> 1 }
  const luma = means(planes.subarray(0, pixels), size, small)
  const blue = means(planes.subarray(pixels, pixels + pixels / 4), half, smallHalf)
  const red = means(planes.subarray(pixels + pixels / 4), half, smallHalf)
  for (let y = 0; y < small.height; y++) {
    const line = (y >> 1) * smallHalf.width
    for (let x = 0; x < small.width; x++) {
      const at = y * small.width + x
      const cb = blue[line + (x >> 1)]! - GREY
      const cr = red[line + (x >> 1)]! - GREY
      luma[at] = (luma[at]! - BLACK) * BRIGHTER + 0.101579 * MORE_COLOUR * cb + 0.196076 * MORE_COLOUR * cr
    }
  }
  for (let at = 0; at < blue.length; at++) {
    const cb = (blue[at]! - GREY) * MORE_COLOUR
    const cr = (red[at]! - GREY) * MORE_COLOUR
    blue[at] = GREY + 0.989854 * cb - 0.110653 * cr
    red[at] = GREY - 0.072453 * cb + 0.983398 * cr
  }
  return { ...small, luma, blue, red }
}

/** Of more pixels than so many in a row, only some are read, which is hardly seen and takes a quarter of the time. */
const SAMPLES = 3

/** Clamped, as the result of colours that the other range does not have. */
function means(plane: Uint8Array, from: Size, to: Size): Uint8ClampedArray<ArrayBuffer> {
  const small = new Uint8ClampedArray(to.width * to.height)
  const step = Math.max(1, Math.floor(from.width / to.width / SAMPLES))
  const edges = Array.from({ length: to.width + 1 }, (_none, x) => Math.floor((x * from.width) / to.width))
  for (let y = 0; y < to.height; y++) {
    const top = Math.floor((y * from.height) / to.height)
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * from.height) / to.height))
    for (let x = 0; x < to.width; x++) {
      const left = edges[x]!
      const right = Math.max(left + 1, edges[x + 1]!)
      let sum = 0
      let count = 0
      for (let row = top; row < bottom; row += step) {
        const line = row * from.width
        for (let at = line + left; at < line + right; at += step) {
          sum += plane[at]!
          count++
        }
      }
      small[y * to.width + x] = sum / count
    }
  }
  return small
}
