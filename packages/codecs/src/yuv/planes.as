// From the pixels of a display to planes, in AssemblyScript: two rows of pixels become two rows of luma and one row of
// each colour, sixteen pixels at a time by vector instructions. JavaScript takes six times as long. `npm run generate`
// compiles it into planes-wasm.ts.

// Where converter.ts puts what the colours weigh, from the address it passes on.
const LUMA_BLUE: usize = 0
const LUMA_GREEN: usize = 2
const LUMA_RED: usize = 4
const LUMA_OFFSET: usize = 6
const BLUE_OF_BLUE: usize = 8
const BLUE_OF_RED: usize = 10
const RED_OF_BLUE: usize = 12
const RED_OF_RED: usize = 14
const COLOUR_OFFSET: usize = 16

const STRIDE: i32 = 16

/**
 * Width and height are even, and the width is not below 16. Strides are in bytes. The weights are loaded and not written
 * here as constants: V8 makes a constant anew wherever it stands, which took a third of the time.
 */
export function convert(
  pixels: usize,
  luma: usize,
  lumaStride: usize,
  blue: usize,
  red: usize,
  width: i32,
  height: i32,
  weights: usize,
): void {
  const lumaBlue = v128.load_splat<u8>(weights, LUMA_BLUE)
  const lumaGreen = v128.load_splat<u8>(weights, LUMA_GREEN)
  const lumaRed = v128.load_splat<u8>(weights, LUMA_RED)
  const lumaOffset = v128.load_splat<u16>(weights, LUMA_OFFSET)
  const blueOfBlue = v128.load_splat<i16>(weights, BLUE_OF_BLUE)
  const blueOfRed = v128.load_splat<i16>(weights, BLUE_OF_RED)
  const redOfBlue = v128.load_splat<i16>(weights, RED_OF_BLUE)
  const redOfRed = v128.load_splat<i16>(weights, RED_OF_RED)
  const colourOffset = v128.load_splat<i32>(weights, COLOUR_OFFSET)
  const rowBytes = (<usize>width) << 2
  const last = width - STRIDE

  for (let row = 0; row < height; row += 2) {
    const lowerPixels = pixels + rowBytes
    const lowerLuma = luma + lumaStride
    let x: i32 = 0
    while (true) {
      // First each channel by itself, for which taking every other byte is one instruction.
      const at = pixels + ((<usize>x) << 2)
      const a = v128.load(at)
      const b = v128.load(at, 16)
      const c = v128.load(at, 32)
      const d = v128.load(at, 48)
      const greens = even(odd(a, b), odd(c, d))
      const ab = even(a, b)
      const cd = even(c, d)
      const blues = even(ab, cd)
      const reds = odd(ab, cd)
      storeLuma(luma + x, blues, greens, reds, lumaBlue, lumaGreen, lumaRed, lumaOffset)
      const lowerAt = lowerPixels + ((<usize>x) << 2)
      const e = v128.load(lowerAt)
      const f = v128.load(lowerAt, 16)
      const g = v128.load(lowerAt, 32)
      const h = v128.load(lowerAt, 48)
      const lowerGreens = even(odd(e, f), odd(g, h))
      const ef = even(e, f)
      const gh = even(g, h)
      const lowerBlues = even(ef, gh)
      const lowerReds = odd(ef, gh)
      storeLuma(lowerLuma + x, lowerBlues, lowerGreens, lowerReds, lumaBlue, lumaGreen, lumaRed, lumaOffset)
      // What a colour weighs adds up to nothing, so two differences from green are all that counts.
      const fourGreens = fourOf(greens, lowerGreens)
      const fourBlues = i16x8.sub(fourOf(blues, lowerBlues), fourGreens)
      const fourReds = i16x8.sub(fourOf(reds, lowerReds), fourGreens)
      const chroma = (<usize>x) >> 1
      storeColours(blue + chroma, fourBlues, fourReds, blueOfBlue, blueOfRed, colourOffset)
      storeColours(red + chroma, fourBlues, fourReds, redOfBlue, redOfRed, colourOffset)
      if (x == last) break
      // The last step ends where the row does, and overlaps the one before.
      x = min<i32>(x + STRIDE, last)
    }
    pixels = lowerPixels + rowBytes
    luma = lowerLuma + lumaStride
    blue += lumaStride >> 1
    red += lumaStride >> 1
  }
}

/** Of sixteen pixels, in 256ths: what is wanted is the upper byte. */
@inline
function storeLuma(
  to: usize,
  blues: v128,
  greens: v128,
  reds: v128,
  ofBlue: v128,
  ofGreen: v128,
  ofRed: v128,
  offset: v128,
): void {
  let low = i16x8.add(offset, i16x8.extmul_low_i8x16_u(blues, ofBlue))
  low = i16x8.add(low, i16x8.extmul_low_i8x16_u(greens, ofGreen))
  low = i16x8.add(low, i16x8.extmul_low_i8x16_u(reds, ofRed))
  let high = i16x8.add(offset, i16x8.extmul_high_i8x16_u(blues, ofBlue))
  high = i16x8.add(high, i16x8.extmul_high_i8x16_u(greens, ofGreen))
  high = i16x8.add(high, i16x8.extmul_high_i8x16_u(reds, ofRed))
  v128.store(to, odd(low, high))
}

/** Sums of four pixels each: neighbours in both rows. */
@inline
function fourOf(upper: v128, lower: v128): v128 {
  return i16x8.add(i16x8.extadd_pairwise_i8x16_u(upper), i16x8.extadd_pairwise_i8x16_u(lower))
}

/** Eight of them. The sums are of four pixels, and the weights are 256ths. */
@inline
function storeColours(to: usize, blues: v128, reds: v128, ofBlue: v128, ofRed: v128, offset: v128): void {
  const low = i32x4.add(
    i32x4.add(i32x4.extmul_low_i16x8_s(blues, ofBlue), i32x4.extmul_low_i16x8_s(reds, ofRed)),
    offset,
  )
  const high = i32x4.add(
    i32x4.add(i32x4.extmul_high_i16x8_s(blues, ofBlue), i32x4.extmul_high_i16x8_s(reds, ofRed)),
    offset,
  )
  const colours = i16x8.narrow_i32x4_s(i32x4.shr_s(low, 10), i32x4.shr_s(high, 10))
  v128.store_lane<u64>(to, i8x16.narrow_i16x8_u(colours, colours), 0)
}

/** Of the bytes of two vectors in a row, every other one. */
@inline
function even(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
}

@inline
function odd(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
}
