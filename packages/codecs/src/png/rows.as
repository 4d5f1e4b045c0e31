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
/** So many that the codes of a block, which are made by JavaScript, are made twice for a screen full of text. */
const TOKENS_BYTES: usize = 0x80000
/** The last rows as they are told, for matches; and room for the end of a store of sixteen bytes. */
const WINDOW: usize = 0x90000
const WINDOW_BYTES: usize = 0x40000
const OUT: usize = 0xd1000

const REACH: usize = 32768
/** 86 pixels. */
const MAX_MATCH: i32 = 258
const MIN_MATCH: i32 = 3
/** Two pixels: shorter ones say less than they cost. */
const MIN_REPEAT: i32 = 6
const TWO_PIXELS: u64 = 0xffffffffffff
const FIRST_LENGTH: usize = 257
const IS_MATCH: u32 = 0x80000000
const IS_BYTE: u32 = 0x40000000
const SUB_FILTER: u8 = 1
const UP_FILTER: u8 = 2
const ADLER_BASE: u64 = 65521
/** Times 48 bytes, so that no sum of theirs is too large. */
const MAX_SUMMED: usize = 512

let width: i32 = 0
let stride: usize = 0
let rowBytes: usize = 0
let pixels: usize = 0

let windowEnd: usize = 0
/** Bytes that have left the window. */
let gone: i32 = 0
let tokenEnd: usize = TOKENS
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
  tokenEnd = TOKENS
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
  const most = TOKENS + TOKENS_BYTES - (rowBytes << 2)
  let row = from
  while (row < until && tokenEnd <= most) takeRow(row++)
  return row
}

function takeRow(row: i32): void {
  const at = roomForRow()
  const source = pixels + <usize>row * stride
  const changed = row == 0 ? width : writeUp(at, source)
  if (changed == 0) {
    tokenEnd = addRun(addByte(tokenEnd, UP_FILTER), <i32>rowBytes - 1)
    adlerLow += UP_FILTER
    adlerHigh = (adlerHigh + <u64>rowBytes * adlerLow) % ADLER_BASE
    adlerLow %= ADLER_BASE
    return
  }
  if (isPhotograph(changed)) writeSub(at, source)
  addToChecksum(at, at + rowBytes)
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

/** A row that is new in most of its pixels: what is to the left says it better. */
@inline
function isPhotograph(changed: i32): bool {
  return changed * 5 > width * 2
}

/** How many pixels are not as the ones above them, or so many that it is enough. */
function writeUp(at: usize, source: usize): i32 {
  store<u8>(at, UP_FILTER)
  const none = i32x4.splat(0)
  let out = at + 1
  let changed = 0
  let column = 0
  // Sixteen pixels at a time, of which most are as those above.
  for (; column + 16 <= width; column += 16, source += 64, out += 48) {
    const above = source - stride
    const first = i8x16.sub(v128.load(source), v128.load(above))
    const second = i8x16.sub(v128.load(source, 16), v128.load(above, 16))
    const third = i8x16.sub(v128.load(source, 32), v128.load(above, 32))
    const fourth = i8x16.sub(v128.load(source, 48), v128.load(above, 48))
    if (!v128.any_true(v128.or(v128.or(first, second), v128.or(third, fourth)))) {
      v128.store(out, none)
      v128.store(out, none, 16)
      v128.store(out, none, 32)
      continue
    }
    // A lane is -1 for each of its pixels.
    const left = i32x4.add(i32x4.ne(first, none), i32x4.ne(second, none))
    const ones = i32x4.add(left, i32x4.add(i32x4.ne(third, none), i32x4.ne(fourth, none)))
    changed -= i32x4.extract_lane(ones, 0) + i32x4.extract_lane(ones, 1)
    changed -= i32x4.extract_lane(ones, 2) + i32x4.extract_lane(ones, 3)
    if (isPhotograph(changed)) return changed
    v128.store(out, inOrder(first))
    v128.store(out, inOrder(second), 12)
    v128.store(out, inOrder(third), 24)
    v128.store(out, inOrder(fourth), 36)
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

/** Adler-32. */
function addToChecksum(at: usize, end: usize): void {
  while (end - at >= 48) {
    const length = min<usize>((end - at) / 48, MAX_SUMMED) * 48
    addStretch(at, length)
    at += length
  }
  for (; at < end; at++) {
    adlerLow += load<u8>(at)
    adlerHigh += adlerLow
  }
  adlerLow %= ADLER_BASE
  adlerHigh %= ADLER_BASE
}

/** Sixteen bytes at a time; three times sixteen, where all of them are zero. */
function addStretch(from: usize, length: usize): void {
  const ones = i16x8.splat(1)
  const weights = i16x8(16, 15, 14, 13, 12, 11, 10, 9)
  const lastWeights = i16x8(8, 7, 6, 5, 4, 3, 2, 1)
  let sums = i32x4.splat(0)
  let before = i32x4.splat(0)
  let weighted = i32x4.splat(0)
  const end = from + length
  for (let at = from; at < end; at += 48) {
    if (!v128.any_true(v128.or(v128.or(v128.load(at), v128.load(at, 16)), v128.load(at, 32)))) {
      before = i32x4.add(before, i32x4.add(i32x4.add(sums, sums), sums))
      continue
    }
    for (let part = at; part < at + 48; part += 16) {
      const bytes = v128.load(part)
      const head = i16x8.extend_low_i8x16_u(bytes)
      const tail = i16x8.extend_high_i8x16_u(bytes)
      before = i32x4.add(before, sums)
      sums = i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.add(head, tail), ones))
      weighted = i32x4.add(weighted, i32x4.dot_i16x8_s(head, weights))
      weighted = i32x4.add(weighted, i32x4.dot_i16x8_s(tail, lastWeights))
    }
  }
  adlerHigh += <u64>length * adlerLow + 16 * total(before) + total(weighted)
  adlerLow += total(sums)
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
  let to = addByte(tokenEnd, load<u8>(at++))
  while (at < end) {
    const both = load<u64>(at) & TWO_PIXELS
    if (both == 0) {
      const run = zeros(at, end)
      if (run >= MIN_REPEAT) {
        to = addRun(to, run)
        at += run
        continue
      }
    }
    const distance = distanceOf(both, at)
    const length = distance == 0 ? 0 : repeated(at, distance, end)
    if (length == 0) {
      to = addPixel(to, <u32>both & 0xffffff)
      at += 3
    } else {
      to = addMatch(to, length, distance)
      at += length
    }
  }
  tokenEnd = to
}

/** How many bytes, of whole pixels. */
function zeros(from: usize, end: usize): i32 {
  let at = from
  while (at + 16 <= end && !v128.any_true(v128.load(at))) at += 16
  while (at < end && load<u8>(at) == 0) at++
  const length = <i32>(at - from)
  return length - (length % 3)
}

/** How far back two pixels were last told; 0: they were not, or too far. */
@inline
function distanceOf(both: u64, at: usize): i32 {
  const slot = SEEN + (<usize>((both * 0x9e3779b97f4a7c15) >> (64 - SEEN_BITS)) << 2)
  const here = gone + <i32>(at - WINDOW)
  const seen = load<i32>(slot)
  store<i32>(slot, here)
  const distance = here - seen
  if (<u32>distance > <u32>REACH) return 0
  return (load<u64>(at - distance) & TWO_PIXELS) == both ? distance : 0
}

/** How many bytes, of whole pixels, are as those at that distance; 0: too few to be worth telling. */
@inline
function repeated(at: usize, distance: i32, end: usize): i32 {
  const most = min<i32>(MAX_MATCH, <i32>(end - at))
  if (most < MIN_REPEAT) return 0
  let length = MIN_REPEAT
  while (length < most) {
    const other = load<u64>(at + length) ^ load<u64>(at + length - distance)
    if (other != 0) {
      length += <i32>(ctz(other) >> 3)
      break
    }
    length += 8
  }
  length = min<i32>(length, most)
  return length - (length % 3)
}

// Each of these puts tokens, and returns where the next one goes.

/** Of zeros. */
function addRun(to: usize, length: i32): usize {
  to = addByte(to, 0)
  for (let left = length - 1; left > 0; ) {
    let part = min<i32>(left, MAX_MATCH)
    if (left > part && left - part < MIN_MATCH) part -= MIN_MATCH
    to = addMatch(to, part, 1)
    left -= part
  }
  return to
}

@inline
function addByte(to: usize, byte: u8): usize {
  count(SYMBOL_COUNTS, byte)
  store<u32>(to, IS_BYTE | byte)
  return to + 4
}

@inline
function addPixel(to: usize, pixel: u32): usize {
  count(SYMBOL_COUNTS, pixel & 0xff)
  count(SYMBOL_COUNTS, (pixel >> 8) & 0xff)
  count(SYMBOL_COUNTS, pixel >> 16)
  store<u32>(to, pixel)
  return to + 4
}

@inline
function addMatch(to: usize, length: i32, distance: i32): usize {
  const part: u32 = length - MIN_MATCH
  count(SYMBOL_COUNTS, FIRST_LENGTH + load<u8>(LENGTH_CODES + part))
  count(DISTANCE_COUNTS, distanceCode(distance - 1))
  store<u32>(to, IS_MATCH | (part << 16) | (<u32>distance - 1))
  return to + 4
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
  bits |= (<u64>value) << bitCount
  bitCount += length
  flush()
}

@inline
function flush(): void {
  store<u64>(outEnd, bits)
  outEnd += <usize>(bitCount >> 3)
  bits >>= bitCount & 56
  bitCount &= 7
}

/** The tokens so far, with the codes of their block. Counts in variables of its own: others would be in memory. */
export function putTokens(): void {
  let held = bits
  let count = bitCount
  let out = outEnd
  for (let at = TOKENS; at < tokenEnd; at += 4) {
    const token = load<u32>(at)
    if (token < IS_BYTE) {
      const red = load<u32>(LITERAL_BITS + ((token & 0xff) << 2))
      const green = load<u32>(LITERAL_BITS + (((token >> 8) & 0xff) << 2))
      const blue = load<u32>(LITERAL_BITS + ((token >> 16) << 2))
      const two = lengthOf(red) + lengthOf(green)
      held |= (bitsOf(red) | (bitsOf(green) << lengthOf(red)) | (bitsOf(blue) << two)) << count
      count += two + lengthOf(blue)
    } else if (token < IS_MATCH) {
      const byte = load<u32>(LITERAL_BITS + ((token & 0xff) << 2))
      held |= bitsOf(byte) << count
      count += lengthOf(byte)
    } else {
      const length = load<u32>(LENGTH_BITS + (((token >> 16) & 0xff) << 2))
      held |= bitsOf(length) << count
      count += lengthOf(length)
      const distance = token & 0xffff
      const code = distanceCode(distance)
      const place = load<u32>(DISTANCE_BITS + (code << 2))
      held |= bitsOf(place) << count
      count += lengthOf(place)
      if (code > 3) {
        const extra = (code >> 1) - 1
        held |= <u64>(distance & ((1 << extra) - 1)) << count
        count += extra
      }
    }
    store<u64>(out, held)
    out += <usize>(count >> 3)
    held >>= count & 56
    count &= 7
  }
  bits = held
  bitCount = count
  outEnd = out
  tokenEnd = TOKENS
  memory.fill(SYMBOL_COUNTS, 0, COUNTS_BYTES)
}

@inline
function bitsOf(entry: u32): u64 {
  return entry & 0xffffff
}

@inline
function lengthOf(entry: u32): u64 {
  return entry >> 24
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
