// One deflate block. Its head describes the codes that fit the counted symbols; rows.as writes the tokens.
// https://www.rfc-editor.org/rfc/rfc1951#section-3.2.7
import { codeLengths, codesOf } from './huffman.ts'
import { layout, type Rows } from './layout.ts'

const LITERALS = 256
const END_OF_BLOCK = 256
const FIRST_LENGTH_CODE = 257
const SYMBOLS = 286
const DISTANCES = 30
const LENGTHS = 256
const MAX_CODE_LENGTH = 15
const MAX_LENGTH_CODE = 7
const LENGTH_CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

// For each length of a match, minus the shortest length: its code, and its extra bits within that code.
const lengthCodes = new Uint8Array(LENGTHS)
const lengthExtras = new Uint8Array(LENGTHS)
const lengthExtraBits = new Uint8Array(LENGTHS)
for (let code = 0, length = 0; code < 28; code++) {
  const bits = code < 8 ? 0 : (code >> 2) - 1
  for (let extra = 0; extra < 1 << bits; extra++, length++) {
    lengthCodes[length] = code
    lengthExtras[length] = extra
    lengthExtraBits[length] = bits
  }
}
// The longest match has its own code.
lengthCodes[LENGTHS - 1] = 28
lengthExtras[LENGTHS - 1] = lengthExtraBits[LENGTHS - 1] = 0

/** rows.as needs these before it counts. */
export function setLengthCodes(memory: ArrayBuffer): void {
  new Uint8Array(memory, layout.lengthCodes, LENGTHS).set(lengthCodes)
}

export function putBlock(rows: Rows, memory: ArrayBuffer, { isLast }: { isLast: boolean }): void {
  const counts = new Uint32Array(memory, layout.symbolCounts, SYMBOLS)
  counts[END_OF_BLOCK] = 1
  const symbols = codeLengths(counts, MAX_CODE_LENGTH)
  const distances = codeLengths(new Uint32Array(memory, layout.distanceCounts, DISTANCES), MAX_CODE_LENGTH)
  rows.putBits(isLast ? 0b101 : 0b100, 3)
  putLengths(rows, symbols, distances)
  const codes = codesOf(symbols)
  setTables(memory, { symbols, codes, distances })
  rows.putTokens()
  rows.putBits(codes[END_OF_BLOCK]!, symbols[END_OF_BLOCK]!)
}

function setTables(
  memory: ArrayBuffer,
  { symbols, codes, distances }: { symbols: Uint8Array; codes: Uint16Array; distances: Uint8Array },
): void {
  const literals = new Uint32Array(memory, layout.literalBits, LITERALS)
  for (let byte = 0; byte < LITERALS; byte++) literals[byte] = entry(codes[byte]!, symbols[byte]!)
  const lengths = new Uint32Array(memory, layout.lengthBits, LENGTHS)
  for (let length = 0; length < LENGTHS; length++) {
    const symbol = FIRST_LENGTH_CODE + lengthCodes[length]!
    const bits = symbols[symbol]!
    lengths[length] = entry(codes[symbol]! | (lengthExtras[length]! << bits), bits + lengthExtraBits[length]!)
  }
  const distanceCodes = codesOf(distances)
  const places = new Uint32Array(memory, layout.distanceBits, DISTANCES)
  for (let code = 0; code < DISTANCES; code++) places[code] = entry(distanceCodes[code]!, distances[code]!)
}

const entry = (bits: number, count: number) => bits | (count << 24)

/** Writes the lengths of all codes; a decoder derives the codes from them. */
function putLengths(rows: Rows, symbols: Uint8Array, distances: Uint8Array): void {
  const symbolCount = usedLength(symbols, FIRST_LENGTH_CODE)
  const distanceCount = usedLength(distances, 1)
  const runs = toRuns([...symbols.subarray(0, symbolCount), ...distances.subarray(0, distanceCount)])
  const counts = new Uint32Array(LENGTH_CODE_ORDER.length)
  for (const { code } of runs) counts[code]!++
  const lengths = codeLengths(counts, MAX_LENGTH_CODE)
  const codes = codesOf(lengths)
  let told = LENGTH_CODE_ORDER.length
  while (told > 4 && lengths[LENGTH_CODE_ORDER[told - 1]!] === 0) told--
  rows.putBits(symbolCount - FIRST_LENGTH_CODE, 5)
  rows.putBits(distanceCount - 1, 5)
  rows.putBits(told - 4, 4)
  for (const code of LENGTH_CODE_ORDER.slice(0, told)) rows.putBits(lengths[code]!, 3)
  for (const { code, extra, extraBits } of runs) {
    rows.putBits(codes[code]! | (extra << lengths[code]!), lengths[code]! + extraBits)
  }
}

function usedLength(lengths: Uint8Array, least: number): number {
  let used = lengths.length
  while (used > least && lengths[used - 1] === 0) used--
  return used
}

interface Run {
  readonly code: number
  readonly extra: number
  readonly extraBits: number
}

const ZEROS_SHORT = { code: 17, least: 3, most: 10, extraBits: 3 }
const ZEROS_LONG = { code: 18, least: 11, most: 138, extraBits: 7 }
const SAME_AGAIN = { code: 16, least: 3, most: 6, extraBits: 2 }

/** The code lengths, with runs written as repetitions. */
function toRuns(lengths: readonly number[]): Run[] {
  const runs: Run[] = []
  for (let at = 0; at < lengths.length;) {
    const length = lengths[at]!
    let end = at + 1
    while (end < lengths.length && lengths[end] === length) end++
    let count = end - at
    at = end
    const once = { code: length, extra: 0, extraBits: 0 }
    if (length !== 0) {
      runs.push(once)
      count--
    }
    const ways = length === 0 ? [ZEROS_LONG, ZEROS_SHORT] : [SAME_AGAIN]
    while (count > 0) {
      const way = ways.find(({ least }) => count >= least)
      const part = way ? Math.min(count, way.most) : 1
      runs.push(way ? { code: way.code, extra: part - way.least, extraBits: way.extraBits } : once)
      count -= part
    }
  }
  return runs
}
