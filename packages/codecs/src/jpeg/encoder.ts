// Encodes small pictures as baseline JPEG, with one colour for four pixels. Chromium and ffmpeg have better encoders; this
// one needs no process, and a small picture of a screen is a fifth of its PNG.
// https://www.w3.org/Graphics/JPEG/itu-t81.pdf
import {
  CHROMA_FIRST,
  CHROMA_REST,
  CHROMA_STEPS,
  LUMA_FIRST,
  LUMA_REST,
  LUMA_STEPS,
  ZIGZAG,
  type CodeTable,
} from './tables.ts'

const BLOCK = 8
const MAX_SIDE = 4096
/** Symbols for sixteen zeros in a row, and for a block whose rest is zero. */
const SIXTEEN_ZEROS = 0xf0
const END_OF_BLOCK = 0x00

/** Full range, BT.601, as JPEG files have it. Both colour planes have half the width and height, rounded up. */
export interface Planes {
  readonly width: number
  readonly height: number
  readonly luma: Uint8Array | Uint8ClampedArray
  readonly blue: Uint8Array | Uint8ClampedArray
  readonly red: Uint8Array | Uint8ClampedArray
}

interface Codes {
  readonly code: Uint16Array
  readonly length: Uint8Array
}

interface Component {
  readonly samples: Planes['luma']
  readonly width: number
  readonly height: number
  /** What each coefficient is multiplied with. */
  readonly scales: Float32Array
  readonly first: Codes
  readonly rest: Codes
  /** The mean of the previous block; only the difference is written. */
  previous: number
}

/** Quality is 1 to 100, as in other encoders. */
export function encodeJpeg(picture: Planes, quality: number): Buffer {
  const { width, height } = picture
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE) {
    throw new RangeError(`Cannot encode a picture of ${width}x${height} pixels`)
  }
  const steps = { luma: stepsAt(LUMA_STEPS, quality), chroma: stepsAt(CHROMA_STEPS, quality) }
  const head = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, [...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...inOrder(steps.luma), 1, ...inOrder(steps.chroma)]),
    segment(0xc0, [8, ...uint16(height), ...uint16(width), 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]),
    segment(0xc4, [
      ...tableAs(0x00, LUMA_FIRST),
      ...tableAs(0x10, LUMA_REST),
      ...tableAs(0x01, CHROMA_FIRST),
      ...tableAs(0x11, CHROMA_REST),
    ]),
    segment(0xda, [3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0]),
  ])
  return Buffer.concat([head, scanOf(picture, steps), Buffer.from([0xff, 0xd9])])
}

function scanOf(
  { width, height, luma, blue, red }: Planes,
  steps: { luma: readonly number[]; chroma: readonly number[] },
): Buffer {
  const half = { width: (width + 1) >> 1, height: (height + 1) >> 1 }
  const chroma = { ...half, scales: scalesOf(steps.chroma), first: codes.chromaFirst, rest: codes.chromaRest }
  const y: Component = {
    samples: luma,
    width,
    height,
    scales: scalesOf(steps.luma),
    first: codes.lumaFirst,
    rest: codes.lumaRest,
    previous: 0,
  }
  const cb: Component = { ...chroma, samples: blue, previous: 0 }
  const cr: Component = { ...chroma, samples: red, previous: 0 }
  const bits = new Bits(width * height)
  for (let top = 0; top < height; top += 2 * BLOCK) {
    for (let left = 0; left < width; left += 2 * BLOCK) {
      putBlock(bits, y, left, top)
      putBlock(bits, y, left + BLOCK, top)
      putBlock(bits, y, left, top + BLOCK)
      putBlock(bits, y, left + BLOCK, top + BLOCK)
      putBlock(bits, cb, left >> 1, top >> 1)
      putBlock(bits, cr, left >> 1, top >> 1)
    }
  }
  return bits.end()
}

const block = new Float32Array(BLOCK * BLOCK)
const coefficients = new Int32Array(BLOCK * BLOCK)

function putBlock(bits: Bits, component: Component, left: number, top: number): void {
  const { samples, width, height, scales, first, rest } = component
  for (let row = 0; row < BLOCK; row++) {
    // Beyond the edge, the last pixel is repeated.
    const line = Math.min(top + row, height - 1) * width
    for (let column = 0; column < BLOCK; column++) {
      block[row * BLOCK + column] = samples[line + Math.min(left + column, width - 1)]! - 128
    }
  }
  for (let row = 0; row < BLOCK; row++) transform(row * BLOCK, 1)
  for (let column = 0; column < BLOCK; column++) transform(column, BLOCK)
  for (let index = 0; index < coefficients.length; index++) {
    const at = ZIGZAG[index]!
    coefficients[index] = Math.round(block[at]! * scales[at]!)
  }
  putNumber(bits, first, 0, coefficients[0]! - component.previous)
  component.previous = coefficients[0]!
  let zeros = 0
  for (let index = 1; index < coefficients.length; index++) {
    const value = coefficients[index]!
    if (value === 0) {
      zeros++
      continue
    }
    for (; zeros >= 16; zeros -= 16) bits.put(rest.code[SIXTEEN_ZEROS]!, rest.length[SIXTEEN_ZEROS]!)
    putNumber(bits, rest, zeros, value)
    zeros = 0
  }
  if (zeros > 0) bits.put(rest.code[END_OF_BLOCK]!, rest.length[END_OF_BLOCK]!)
}

/** A symbol with the zeros before the number and the number's length in bits, then those bits. */
function putNumber(bits: Bits, { code, length }: Codes, zeros: number, value: number): void {
  const size = 32 - Math.clz32(Math.abs(value))
  const symbol = (zeros << 4) | size
  bits.put(code[symbol]!, length[symbol]!)
  if (size > 0) bits.put(value < 0 ? value + (1 << size) - 1 : value, size)
}

/**
 * The discrete cosine transform of eight numbers of the block, by Arai, Agui and Nakajima: five multiplications. Its results
 * are scaled; scalesOf() undoes that.
 */
function transform(at: number, step: number): void {
  const [i1, i2, i3] = [at + step, at + 2 * step, at + 3 * step]
  const [i4, i5, i6, i7] = [at + 4 * step, at + 5 * step, at + 6 * step, at + 7 * step]
  const s0 = block[at]! + block[i7]!
  const s7 = block[at]! - block[i7]!
  const s1 = block[i1]! + block[i6]!
  const s6 = block[i1]! - block[i6]!
  const s2 = block[i2]! + block[i5]!
  const s5 = block[i2]! - block[i5]!
  const s3 = block[i3]! + block[i4]!
  const s4 = block[i3]! - block[i4]!
  const e0 = s0 + s3
  const e3 = s0 - s3
  const e1 = s1 + s2
  const e2 = (s1 - s2 + e3) * Math.SQRT1_2
  block[at] = e0 + e1
  block[i4] = e0 - e1
  block[i2] = e3 + e2
  block[i6] = e3 - e2
  const o0 = s4 + s5
  const o1 = (s5 + s6) * Math.SQRT1_2
  const o2 = s6 + s7
  const turn = (o0 - o2) * 0.382683433
  const o3 = 0.5411961 * o0 + turn
  const o4 = 1.306562965 * o2 + turn
  const p0 = s7 + o1
  const p1 = s7 - o1
  block[i5] = p1 + o3
  block[i3] = p1 - o3
  block[i1] = p0 + o4
  block[i7] = p0 - o4
}

function stepsAt(base: readonly number[], quality: number): number[] {
  const percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
  return base.map((step) => Math.min(255, Math.max(1, Math.floor((step * percent + 50) / 100))))
}

function scalesOf(steps: readonly number[]): Float32Array {
  const factors = Array.from({ length: BLOCK }, (_none, index) =>
    index === 0 ? 1 : Math.cos((index * Math.PI) / 16) * Math.SQRT2,
  )
  return Float32Array.from(steps, (step, at) => 1 / (step * factors[at >> 3]! * factors[at & 7]! * BLOCK))
}

const inOrder = (steps: readonly number[]) => ZIGZAG.map((at) => steps[at]!)
const tableAs = (id: number, { counts, symbols }: CodeTable) => [id, ...counts, ...symbols]
const uint16 = (value: number) => [value >> 8, value & 0xff]

function segment(marker: number, content: readonly number[]): Buffer {
  return Buffer.from([0xff, marker, ...uint16(content.length + 2), ...content])
}

function codesOf({ counts, symbols }: CodeTable): Codes {
  const codes = { code: new Uint16Array(256), length: new Uint8Array(256) }
  let [next, at] = [0, 0]
  for (const [index, count] of counts.entries()) {
    for (let each = 0; each < count; each++) {
      const symbol = symbols[at++]!
      codes.code[symbol] = next++
      codes.length[symbol] = index + 1
    }
    next <<= 1
  }
  return codes
}

const codes = {
  lumaFirst: codesOf(LUMA_FIRST),
  lumaRest: codesOf(LUMA_REST),
  chromaFirst: codesOf(CHROMA_FIRST),
  chromaRest: codesOf(CHROMA_REST),
}

/** Writes numbers of some bits one after another. */
class Bits {
  #bytes: Buffer
  #at = 0
  #held = 0
  #count = 0

  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(1024, bytes))
  }

  /** At most 16 bits. */
  put(value: number, length: number): void {
    this.#held = (this.#held << length) | value
    this.#count += length
    while (this.#count >= 8) {
      this.#count -= 8
      this.#putByte((this.#held >> this.#count) & 0xff)
    }
    this.#held &= (1 << this.#count) - 1
  }

  end(): Buffer {
    if (this.#count > 0) this.put((1 << (8 - this.#count)) - 1, 8 - this.#count)
    return this.#bytes.subarray(0, this.#at)
  }

  #putByte(byte: number): void {
    if (this.#at + 2 > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2)
    }
    this.#bytes[this.#at++] = byte
    // Otherwise it would begin a marker.
    if (byte === 0xff) this.#bytes[this.#at++] = 0
  }
}
