// The half of the PNG encoder that sees every pixel, in AssemblyScript: rows of pixels become differences, differences
// become the tokens of deflate, and tokens become bits. What is done once for a block is in deflate-block.ts. `npm run
// generate` compiles it into rows-wasm.ts.

// Where things are in the memory, as layout.ts has it too. Pixels come behind all of it.
const SYMBOL_COUNTS: usize = 0
const DISTANCE_COUNTS: usize = 0x480
const COUNTS_BYTES: usize = 0x500
/** Codes of the lengths of matches, less the shortest. */
const LENGTH_CODES: usize = 0x500
// Bits of a symbol in the lower 24 bits, how many there are in the upper 8.
const LITERAL_BITS: usize = 0x800
const LENGTH_BITS: usize = 0xc00
const DISTANCE_BITS: usize = 0x1000
/** Where two pixels were last, by their hash. */
const SEEN: usize = 0x2000
const SEEN_BITS: u32 = 13
const TOKENS: usize = 0x10000
const MOST_TOKENS: i32 = 0x10000
/** The last rows as they are told, for matches; and room for the end of a store of sixteen bytes. */
const WINDOW: usize = 0x50000
const WINDOW_BYTES: usize = 0x40000
const OUT: usize = 0x91000

const REACH: usize = 32768
/** 86 pixels. */
const LONGEST_MATCH: i32 = 258
const SHORTEST_MATCH: i32 = 3
/** Two pixels: shorter ones say less than they cost. */
const SHORTEST_REPEAT: i32 = 6
const TWO_PIXELS: u64 = 0xffffffffffff
const FIRST_LENGTH: usize = 257
const IS_MATCH: u32 = 0x80000000
const IS_BYTE: u32 = 0x40000000
const SUB_FILTER: u8 = 1
const UP_FILTER: u8 = 2
const ADLER_BASE: u64 = 65521

let width: i32 = 0
let stride: usize = 0
let rowBytes: usize = 0
let pixels: usize = 0

let windowEnd: usize = 0
/** Bytes that have left the window. */
let gone: i32 = 0
let tokenCount: i32 = 0
let adlerLow: u64 = 1
let adlerHigh: u64 = 0

let bits: u64 = 0
let bitCount: u64 = 0
let outEnd: usize = 0

export function begin(pictureWidth: i32, pixelsAt: usize): void {
  width = pictureWidth
  stride = (<usize>width) << 2
  rowBytes = <usize>width * 3 + 1
  pixels = pixelsAt
  windowEnd = WINDOW
  gone = 0
  tokenCount = 0
  adlerLow = 1
  adlerHigh = 0
  bits = 0
  bitCount = 0
  outEnd = OUT
  memory.fill(SYMBOL_COUNTS, 0, COUNTS_BYTES)
  // Far out of reach.
  memory.fill(SEEN, 0x80, (<usize>4) << SEEN_BITS)
}

/** Up to which row there was room for tokens. */
export function takeRows(from: i32, until: i32): i32 {
  const most = MOST_TOKENS - <i32>rowBytes
  let row = from
  while (row < until && tokenCount <= most) takeRow(row++)
  return row
}

function takeRow(row: i32): void {
  const at = roomForRow()
  const source = pixels + <usize>row * stride
  const changed = row == 0 ? width : writeUp(at, source)
  if (changed == 0) {
    memory.fill(at + 1, 0, rowBytes - 1)
    addByte(UP_FILTER)
    addRun(<i32>rowBytes - 1)
    adlerLow += UP_FILTER
    adlerHigh = (adlerHigh + <u64>rowBytes * adlerLow) % ADLER_BASE
    adlerLow %= ADLER_BASE
    return
  }
  // What is new in most of its pixels is a photograph: what is to the left says it better.
  if (changed * 5 > width * 2) writeSub(at, source)
  addToChecksum(at)
  addRow(at, at + rowBytes)
}

/** What is within reach stays, the rest makes room. */
function roomForRow(): usize {
  if (windowEnd + rowBytes > WINDOW + WINDOW_BYTES) {
    const shift = windowEnd - WINDOW - REACH
    memory.copy(WINDOW, WINDOW + shift, REACH)
    gone += <i32>shift
    windowEnd -= shift
  }
  const at = windowEnd
  windowEnd += rowBytes
  return at
}

/** How many pixels are not as the ones above them. */
function writeUp(at: usize, source: usize): i32 {
  store<u8>(at, UP_FILTER)
  let out = at + 1
  let changed = 0
  let column = 0
  for (; column + 4 <= width; column += 4, source += 16, out += 12) {
    const here = v128.load(source)
    const above = v128.load(source - stride)
    changed += i32.popcnt(i32x4.bitmask(i32x4.ne(here, above)))
    v128.store(out, inOrder(i8x16.sub(here, above)))
  }
  for (; column < width; column++, source += 4, out += 3) {
    if (load<u32>(source) != load<u32>(source - stride)) changed++
    writeDifference(out, source, source - stride)
  }
  return changed
}

function writeSub(at: usize, source: usize): void {
  store<u8>(at, SUB_FILTER)
  store<u8>(at + 1, load<u8>(source, 2))
  store<u8>(at + 2, load<u8>(source, 1))
  store<u8>(at + 3, load<u8>(source))
  source += 4
  let out = at + 4
  let column = 1
  for (; column + 4 <= width; column += 4, source += 16, out += 12) {
    v128.store(out, inOrder(i8x16.sub(v128.load(source), v128.load(source - 4))))
  }
  for (; column < width; column++, source += 4, out += 3) writeDifference(out, source, source - 4)
}

/** From blue, green, red and nothing to red, green, blue. */
@inline
function inOrder(pixels: v128): v128 {
  return i8x16.shuffle(pixels, pixels, 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 3, 7, 11, 15)
}

@inline
function writeDifference(out: usize, source: usize, other: usize): void {
  store<u8>(out, load<u8>(source, 2) - load<u8>(other, 2))
  store<u8>(out, load<u8>(source, 1) - load<u8>(other, 1), 1)
  store<u8>(out, load<u8>(source) - load<u8>(other), 2)
}

/** Adler-32, of sixteen bytes at a time. */
function addToChecksum(at: usize): void {
  const weights = i8x16(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
  const end = at + rowBytes
  const whole = (rowBytes / 16) * 16
  let sums = i32x4.splat(0)
  let before = i32x4.splat(0)
  let weighted = i32x4.splat(0)
  for (const stop = at + whole; at < stop; at += 16) {
    const bytes = v128.load(at)
    before = i32x4.add(before, sums)
    sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bytes)))
    weighted = i32x4.add(weighted, i32x4.extadd_pairwise_i16x8_u(i16x8.extmul_low_i8x16_u(bytes, weights)))
    weighted = i32x4.add(weighted, i32x4.extadd_pairwise_i16x8_u(i16x8.extmul_high_i8x16_u(bytes, weights)))
  }
  adlerHigh += <u64>whole * adlerLow + 16 * total(before) + total(weighted)
  adlerLow += total(sums)
  for (; at < end; at++) {
    adlerLow += load<u8>(at)
    adlerHigh += adlerLow
  }
  adlerLow %= ADLER_BASE
  adlerHigh %= ADLER_BASE
}

function total(sums: v128): u64 {
  return (
    <u64>(<u32>i32x4.extract_lane(sums, 0)) +
    <u64>(<u32>i32x4.extract_lane(sums, 1)) +
    <u64>(<u32>i32x4.extract_lane(sums, 2)) +
    <u64>(<u32>i32x4.extract_lane(sums, 3))
  )
}

function addRow(at: usize, end: usize): void {
  addByte(load<u8>(at++))
  while (at < end) {
    const both = load<u64>(at) & TWO_PIXELS
    if (both == 0) {
      const run = zeros(at, end)
      if (run >= SHORTEST_REPEAT) {
        addRun(run)
        at += run
        continue
      }
    }
    const length = repeatAt(at, end, both)
    if (length == 0) addPixel(<u32>both & 0xffffff)
    at += length == 0 ? 3 : length
  }
}

/** How many bytes, of whole pixels. */
function zeros(from: usize, end: usize): i32 {
  let at = from
  while (at + 16 <= end && !v128.any_true(v128.load(at))) at += 16
  while (at < end && load<u8>(at) == 0) at++
  const length = <i32>(at - from)
  return length - (length % 3)
}

/** The length of what was told before and comes again here; 0: nothing worth telling. */
@inline
function repeatAt(at: usize, end: usize, both: u64): i32 {
  const slot = SEEN + (<usize>((both * 0x9e3779b97f4a7c15) >> (64 - SEEN_BITS)) << 2)
  const here = gone + <i32>(at - WINDOW)
  const seen = load<i32>(slot)
  store<i32>(slot, here)
  const distance = here - seen
  if (<u32>distance > <u32>REACH) return 0
  if ((load<u64>(at - distance) & TWO_PIXELS) != both) return 0
  const most = min<i32>(LONGEST_MATCH, <i32>(end - at))
  if (most < SHORTEST_REPEAT) return 0
  let length = SHORTEST_REPEAT
  while (length < most) {
    const other = load<u64>(at + length) ^ load<u64>(at + length - distance)
    if (other != 0) {
      length += <i32>(ctz(other) >> 3)
      break
    }
    length += 8
  }
  length = min<i32>(length, most)
  length -= length % 3
  addMatch(length, distance)
  return length
}

/** Of zeros. */
function addRun(length: i32): void {
  addByte(0)
  for (let left = length - 1; left > 0; ) {
    let part = min<i32>(left, LONGEST_MATCH)
    if (left > part && left - part < SHORTEST_MATCH) part -= SHORTEST_MATCH
    addMatch(part, 1)
    left -= part
  }
}

@inline
function addByte(byte: u8): void {
  count(SYMBOL_COUNTS, byte)
  addToken(IS_BYTE | byte)
}

@inline
function addPixel(pixel: u32): void {
  count(SYMBOL_COUNTS, pixel & 0xff)
  count(SYMBOL_COUNTS, (pixel >> 8) & 0xff)
  count(SYMBOL_COUNTS, pixel >> 16)
  addToken(pixel)
}

@inline
function addMatch(length: i32, distance: i32): void {
  const part: u32 = length - SHORTEST_MATCH
  count(SYMBOL_COUNTS, FIRST_LENGTH + load<u8>(LENGTH_CODES + part))
  count(DISTANCE_COUNTS, distanceCode(distance - 1))
  addToken(IS_MATCH | (part << 16) | (<u32>distance - 1))
}

@inline
function addToken(token: u32): void {
  store<u32>(TOKENS + ((<usize>tokenCount) << 2), token)
  tokenCount++
}

@inline
function count(counts: usize, symbol: usize): void {
  store<u32>(counts + (symbol << 2), load<u32>(counts + (symbol << 2)) + 1)
}

/** Of a distance less one. */
@inline
function distanceCode(distance: u32): u32 {
  if (distance < 4) return distance
  const high = 31 - clz(distance)
  return high * 2 + ((distance >> (high - 1)) & 1)
}

/** At most 24 bits. */
export function putBits(value: u32, length: u32): void {
  put(value, length)
  flush()
}

@inline
function put(value: u64, length: u64): void {
  bits |= value << bitCount
  bitCount += length
}

@inline
function flush(): void {
  store<u64>(outEnd, bits)
  outEnd += <usize>(bitCount >> 3)
  bits >>= bitCount & 56
  bitCount &= 7
}

/** The tokens so far, with the codes of their block. */
export function putTokens(): void {
  const end = TOKENS + ((<usize>tokenCount) << 2)
  for (let at = TOKENS; at < end; at += 4) {
    const token = load<u32>(at)
    if (token < IS_BYTE) {
      putSymbol(LITERAL_BITS, token & 0xff)
      putSymbol(LITERAL_BITS, (token >> 8) & 0xff)
      putSymbol(LITERAL_BITS, token >> 16)
    } else if (token < IS_MATCH) putSymbol(LITERAL_BITS, token & 0xff)
    else {
      putSymbol(LENGTH_BITS, (token >> 16) & 0xff)
      const distance = token & 0xffff
      const code = distanceCode(distance)
      putSymbol(DISTANCE_BITS, code)
      if (code > 3) {
        const extra = (code >> 1) - 1
        put(distance & ((1 << extra) - 1), extra)
      }
    }
    flush()
  }
  tokenCount = 0
  memory.fill(SYMBOL_COUNTS, 0, COUNTS_BYTES)
}

@inline
function putSymbol(table: usize, symbol: usize): void {
  const entry = load<u32>(table + (symbol << 2))
  put(entry & 0xffffff, entry >> 24)
}

/** How many bytes there are in all. The room for them is free again. */
export function takeBytes(isLast: bool): i32 {
  if (isLast && bitCount > 0) {
    store<u8>(outEnd++, <u8>bits)
    bits = 0
    bitCount = 0
  }
  const length = outEnd - OUT
  outEnd = OUT
  return <i32>length
}

export function checksum(): u32 {
  return (<u32>adlerHigh << 16) | <u32>adlerLow
}
