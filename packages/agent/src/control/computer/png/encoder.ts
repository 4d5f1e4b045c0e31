// Pictures of screens as PNG, as fast as JavaScript can: most pixels of a screen are what is to the left
// of them or above, which takes a comparison each to see and next to nothing to say. A general deflate
// looks at every byte of it several times. https://www.w3.org/TR/png-3/
import { setImmediate as otherWork } from 'node:timers/promises'
import { Deflater } from './deflater.ts'

export interface Picture {
  readonly width: number
  readonly height: number
  /** Blue, green, red and one byte that means nothing, for each pixel of each row. */
  readonly pixels: Uint32Array
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const ZLIB_HEAD = Buffer.from([0x78, 0x01])
const TRUECOLOUR = 2
const NO_FILTER = 0
const SUB_FILTER = 1
const ADLER_BASE = 65_521
const WINDOW_BYTES = 32 * 1024
const HASH_BITS = 14
/** Runs longer than NEAR pixels are compared CHUNK pixels at a time. */
const NEAR = 16
const CHUNK = 128
/** Rows with more pixels than this that are new are photographs: differences say them better. */
const PHOTO_SHARE = 0.4
const SCREEN_SHARE = 0.25
/** How long others may have to wait for the thread. */
const LONGEST_STRETCH_MS = 4
const ROWS_BETWEEN_LOOKS = 8

export async function encodePng(picture: Picture): Promise<Buffer> {
  const { crc32 } = await import('node:zlib')
  const data = await deflatePicture(picture)
  const head = Buffer.alloc(13)
  head.writeUInt32BE(picture.width, 0)
  head.writeUInt32BE(picture.height, 4)
  head[8] = 8
  head[9] = TRUECOLOUR
  const chunk = (type: string, ...parts: Buffer[]) => {
    const body = [Buffer.from(type), ...parts]
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(parts.reduce((total, part) => total + part.length, 0))
    sum.writeUInt32BE(body.reduce((crc, part) => crc32(part, crc), 0))
    return [length, ...body, sum]
  }
  return Buffer.concat([SIGNATURE, ...chunk('IHDR', head), ...chunk('IDAT', ...data), ...chunk('IEND')])
}

async function deflatePicture(picture: Picture): Promise<Buffer[]> {
  const rows = new RowEncoder(picture)
  let began = performance.now()
  for (let row = 0; row < picture.height; row++) {
    rows.encode(row)
    if (row % ROWS_BETWEEN_LOOKS !== 0 || performance.now() - began < LONGEST_STRETCH_MS) continue
    await otherWork()
    began = performance.now()
  }
  return [ZLIB_HEAD, rows.finish(), rows.checksum()]
}

class RowEncoder {
  readonly #pixels: Uint32Array
  readonly #bytes: Buffer
  readonly #width: number
  readonly #rowBytes: number
  readonly #deflater = new Deflater()
  /** Where a sequence of pixels was seen last, by its hash. */
  readonly #seen = new Int32Array(1 << HASH_BITS).fill(-1)
  /** Bytes from the row before to this one that are the same as there, not yet said. */
  #aboveRun = 0
  #isPhoto = false
  /** From where on rows are without a filter, and so may be pointed back to. */
  #plainFrom = 0

  // The checksum of a row is that of the row above, but for the pixels that differ.
  #rowSum = 0
  #rowWeighted = 0
  #adlerLow = 1
  #adlerHigh = 0

  constructor({ pixels, width }: Picture) {
    this.#pixels = pixels
    this.#bytes = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength)
    this.#width = width
    this.#rowBytes = width * 3 + 1
  }

  encode(row: number): void {
    const fresh = this.#isPhoto ? this.#encodePhoto(row) : this.#encodeScreen(row)
    const share = fresh / this.#width
    if (this.#isPhoto && share < SCREEN_SHARE) {
      this.#isPhoto = false
      this.#plainFrom = row + 1
    } else if (!this.#isPhoto && share > PHOTO_SHARE) this.#isPhoto = true
    const length = this.#rowBytes
    this.#adlerHigh = (this.#adlerHigh + length * this.#adlerLow + this.#rowWeighted) % ADLER_BASE
    this.#adlerLow = (this.#adlerLow + this.#rowSum) % ADLER_BASE
  }

  finish(): Buffer {
    this.#sayAboveRun()
    return this.#deflater.finish()
  }

  checksum(): Buffer {
    const sum = Buffer.alloc(4)
    sum.writeUInt16BE(this.#adlerHigh, 0)
    sum.writeUInt16BE(this.#adlerLow, 2)
    return sum
  }

  /** Gives how many pixels had to be said as they are. */
  #encodeScreen(row: number): number {
    const pixels = this.#pixels
    const width = this.#width
    const start = row * width
    const end = start + width
    const hasAbove = row > this.#plainFrom
    if (!hasAbove) this.#rowSum = this.#rowWeighted = 0
    if (hasAbove) this.#aboveRun++
    else this.#deflater.byte(NO_FILTER)
    let fresh = 0
    for (let at = start; at < end;) {
      if (hasAbove && pixels[at] === pixels[at - width]) {
        const until = this.#aboveUntil(at + 1, end)
        this.#aboveRun += (until - at) * 3
        at = until
      }
      if (at === end) break
      this.#sayAboveRun()
      const from = at
      for (let isNew = true; isNew; isNew = at < end && !(hasAbove && pixels[at] === pixels[at - width])) {
        const value = pixels[at]!
        let until = at
        if (at > start && value === pixels[at - 1]) {
          while (until < end && pixels[until] === value) until++
          this.#deflater.match((until - at) * 3, 3)
        } else {
          until = this.#sayRepeated(at, end, row)
          if (until === at) {
            this.#deflater.triple(((value >> 16) & 0xff) | (value & 0xff00) | ((value & 0xff) << 16))
            fresh++
            until++
          }
        }
        at = until
      }
      this.#sum(from, at, { start, hasAbove })
    }
    return fresh
  }

  /** Short runs by pixels, the rest of long ones by memory comparison. */
  #aboveUntil(from: number, end: number): number {
    const pixels = this.#pixels
    const width = this.#width
    let until = from
    for (const near = Math.min(end, from + NEAR); until < near; until++) {
      if (pixels[until] !== pixels[until - width]) return until
    }
    while (until + CHUNK <= end && this.#isAsAbove(until)) until += CHUNK
    while (until < end && pixels[until] === pixels[until - width]) until++
    return until
  }

  #isAsAbove(at: number): boolean {
    const bytes = this.#bytes
    const [start, above] = [at * 4, (at - this.#width) * 4]
    return bytes.compare(bytes, above, above + CHUNK * 4, start, start + CHUNK * 4) === 0
  }

  /** Shorter than three bytes is only the filter at the start of a row. */
  #sayAboveRun(): void {
    const length = this.#aboveRun
    this.#aboveRun = 0
    if (length >= 3) this.#deflater.match(length, this.#rowBytes)
    else if (length > 0) this.#deflater.byte(NO_FILTER)
  }

  /** Pixels that were there shortly before, such as the same letter; gives where they end. */
  #sayRepeated(at: number, end: number, row: number): number {
    const pixels = this.#pixels
    if (at + 2 >= end) return at
    const hash =
      (Math.imul(pixels[at]!, 0x9e3779b1) ^
        Math.imul(pixels[at + 1]!, 0x85ebca6b) ^
        Math.imul(pixels[at + 2]!, 0xc2b2ae35)) >>>
      (32 - HASH_BITS)
    const candidate = this.#seen[hash]!
    this.#seen[hash] = at
    if (candidate < this.#plainFrom * this.#width) return at
    const width = this.#width
    const candidateRow = Math.floor(candidate / width)
    const distance = (at - candidate) * 3 + (row - candidateRow)
    if (distance > WINDOW_BYTES) return at
    // Not beyond its row, where a filter comes in between.
    const most = Math.min(end - at, (candidateRow + 1) * width - candidate)
    let length = 0
    while (length < most && pixels[candidate + length] === pixels[at + length]) length++
    if (length < 2) return at
    this.#deflater.match(length * 3, distance)
    return at + length
  }

  #sum(from: number, until: number, { start, hasAbove }: { start: number; hasAbove: boolean }): void {
    const pixels = this.#pixels
    const width = this.#width
    let sum = 0
    let weighted = 0
    for (let at = from; at < until; at++) {
      const value = pixels[at]!
      const above = hasAbove ? pixels[at - width]! : 0
      if (value === above) continue
      const red = ((value >> 16) & 0xff) - ((above >> 16) & 0xff)
      const green = ((value >> 8) & 0xff) - ((above >> 8) & 0xff)
      const blue = (value & 0xff) - (above & 0xff)
      const total = red + green + blue
      sum += total
      // Of the first byte of the pixel, counted from the end of the row.
      weighted += total * ((width - (at - start)) * 3) - green - 2 * blue
    }
    this.#rowSum += sum
    this.#rowWeighted += weighted
  }

  #encodePhoto(row: number): number {
    const pixels = this.#pixels
    const width = this.#width
    const start = row * width
    this.#sayAboveRun()
    this.#deflater.byte(SUB_FILTER)
    let fresh = 0
    let left = 0
    let sum = SUB_FILTER
    let weighted = SUB_FILTER * this.#rowBytes
    for (let column = 0; column < width; column++) {
      const value = pixels[start + column]!
      const red = (((value >> 16) & 0xff) - ((left >> 16) & 0xff)) & 0xff
      const green = (((value >> 8) & 0xff) - ((left >> 8) & 0xff)) & 0xff
      const blue = ((value & 0xff) - (left & 0xff)) & 0xff
      if (value !== left && (row === 0 || value !== pixels[start + column - width])) fresh++
      this.#deflater.triple(red | (green << 8) | (blue << 16))
      sum += red + green + blue
      weighted += (red + green + blue) * ((width - column) * 3) - green - 2 * blue
      left = value
    }
    this.#rowSum = sum
    this.#rowWeighted = weighted
    return fresh
  }
}
