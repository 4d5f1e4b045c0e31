// Deflate for an encoder that finds its own repetitions: it is given literals and matches, and writes
// them in blocks with the codes that suit each. https://www.rfc-editor.org/rfc/rfc1951
import { codeLengths, codesOf } from './huffman.ts'

const LONGEST_MATCH = 258
const SHORTEST_MATCH = 3
const END_OF_BLOCK = 256
const FIRST_LENGTH_CODE = 257
const TOKENS_OF_A_BLOCK = 64 * 1024
const LONGEST_CODE = 15
const LONGEST_LENGTH_CODE = 7
const LENGTH_CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
/** What one token may take at most: a match, with codes and extra bits, or three literals. */
const MOST_TOKEN_BYTES = 8
const MOST_HEAD_BYTES = 512

const IS_MATCH = 0x80000000
const IS_BYTE = 0x40000000

const lengthCodes = new Uint8Array(LONGEST_MATCH + 1)
const lengthBases = new Uint16Array(29)
const lengthExtras = new Uint8Array(29)
for (let code = 0, length = SHORTEST_MATCH; code < 28; code++) {
  const extra = code < 8 ? 0 : (code >> 2) - 1
  lengthBases[code] = length
  lengthExtras[code] = extra
  for (const end = length + (1 << extra); length < end; length++) lengthCodes[Math.min(length, 258)] = code
}
lengthCodes[LONGEST_MATCH] = 28
lengthBases[28] = LONGEST_MATCH

const distanceBases = new Uint16Array(30)
const distanceExtras = new Uint8Array(30)
for (let code = 0, distance = 1; code < 30; code++) {
  const extra = code < 4 ? 0 : (code >> 1) - 1
  distanceBases[code] = distance
  distanceExtras[code] = extra
  distance += 1 << extra
}

function distanceCodeOf(distance: number): number {
  if (distance <= 4) return distance - 1
  const bits = 31 - Math.clz32(distance - 1)
  return bits * 2 + (((distance - 1) >> (bits - 1)) & 1)
}

export class Deflater {
  readonly #tokens = new Uint32Array(TOKENS_OF_A_BLOCK)
  readonly #symbolCounts = new Uint32Array(286)
  readonly #distanceCounts = new Uint32Array(30)
  #tokenCount = 0
  #out = Buffer.allocUnsafeSlow(256 * 1024)
  #length = 0
  #bits = 0
  #bitCount = 0

  /** One byte as it is. */
  byte(value: number): void {
    this.#symbolCounts[value]!++
    this.#add((IS_BYTE | value) >>> 0)
  }

  /** Three bytes as they are, the first in the lowest eight bits. */
  triple(value: number): void {
    const counts = this.#symbolCounts
    counts[value & 0xff]!++
    counts[(value >> 8) & 0xff]!++
    counts[(value >> 16) & 0xff]!++
    this.#add(value & 0xffffff)
  }

  /** What was said `distance` bytes ago, again; `length` may be any from 3 on. */
  match(length: number, distance: number): void {
    const distanceCode = distanceCodeOf(distance)
    for (let left = length; left > 0;) {
      let part = left > LONGEST_MATCH ? LONGEST_MATCH : left
      if (left > part && left - part < SHORTEST_MATCH) part -= SHORTEST_MATCH
      this.#symbolCounts[FIRST_LENGTH_CODE + lengthCodes[part]!]!++
      this.#distanceCounts[distanceCode]!++
      this.#add((IS_MATCH | (part << 16) | distance) >>> 0)
      left -= part
    }
  }

  /** Ends the stream; without the checksum that zlib wants behind it. */
  finish(): Buffer {
    this.#endBlock({ isLast: true })
    while (this.#bitCount > 0) {
      this.#out[this.#length++] = this.#bits & 0xff
      this.#bits >>>= 8
      this.#bitCount -= 8
    }
    return this.#out.subarray(0, this.#length)
  }

  #add(token: number): void {
    this.#tokens[this.#tokenCount++] = token
    if (this.#tokenCount === TOKENS_OF_A_BLOCK) this.#endBlock({ isLast: false })
  }

  #endBlock({ isLast }: { isLast: boolean }): void {
    this.#makeRoom(this.#tokenCount * MOST_TOKEN_BYTES + MOST_HEAD_BYTES)
    this.#symbolCounts[END_OF_BLOCK] = 1
    const symbolLengths = codeLengths(this.#symbolCounts, LONGEST_CODE)
    const distanceLengths = codeLengths(this.#distanceCounts, LONGEST_CODE)
    this.#put(isLast ? 0b101 : 0b100, 3)
    this.#putLengths(symbolLengths, distanceLengths)
    this.#putTokens(symbolLengths, distanceLengths)
    this.#tokenCount = 0
    this.#symbolCounts.fill(0)
    this.#distanceCounts.fill(0)
  }

  #putLengths(symbolLengths: Uint8Array, distanceLengths: Uint8Array): void {
    const symbols = usedLength(symbolLengths, FIRST_LENGTH_CODE)
    const distances = usedLength(distanceLengths, 1)
    const runs = toRuns([...symbolLengths.subarray(0, symbols), ...distanceLengths.subarray(0, distances)])
    const counts = new Uint32Array(19)
    for (const { code } of runs) counts[code]!++
    const lengths = codeLengths(counts, LONGEST_LENGTH_CODE)
    const codes = codesOf(lengths)
    let told = LENGTH_CODE_ORDER.length
    while (told > 4 && lengths[LENGTH_CODE_ORDER[told - 1]!] === 0) told--
    this.#put(symbols - FIRST_LENGTH_CODE, 5)
    this.#put(distances - 1, 5)
    this.#put(told - 4, 4)
    for (const code of LENGTH_CODE_ORDER.slice(0, told)) this.#put(lengths[code]!, 3)
    for (const { code, extra, extraBits } of runs) {
      this.#put(codes[code]!, lengths[code]!)
      if (extraBits > 0) this.#put(extra, extraBits)
    }
  }

  // The one loop that sees every token: its state is in locals, and a code is beside its length.
  #putTokens(symbolLengths: Uint8Array, distanceLengths: Uint8Array): void {
    const symbols = withLengths(codesOf(symbolLengths), symbolLengths)
    const distances = withLengths(codesOf(distanceLengths), distanceLengths)
    const tokens = this.#tokens
    const count = this.#tokenCount
    const out = this.#out
    let length = this.#length
    let bits = this.#bits
    let bitCount = this.#bitCount
    for (let index = 0; index < count; index++) {
      const token = tokens[index]!
      let first = 0
      let second = 0
      let firstCount = 0
      let secondCount = 0
      if (token < IS_BYTE) {
        const one = symbols[token & 0xff]!
        const other = symbols[(token >> 8) & 0xff]!
        const last = symbols[token >> 16]!
        bits |= (one & 0xffff) << bitCount
        bitCount += one >> 16
        if (bitCount >= 16) {
          out[length++] = bits
          out[length++] = bits >> 8
          bits >>>= 16
          bitCount -= 16
        }
        first = other & 0xffff
        firstCount = other >> 16
        second = last & 0xffff
        secondCount = last >> 16
      } else if (token < IS_MATCH) {
        const one = symbols[token & 0xff]!
        first = one & 0xffff
        firstCount = one >> 16
      } else {
        const part = (token >> 16) & 0x1ff
        const distance = token & 0xffff
        const lengthCode = lengthCodes[part]!
        const one = symbols[FIRST_LENGTH_CODE + lengthCode]!
        const distanceCode = distanceCodeOf(distance)
        const other = distances[distanceCode]!
        // A code of 15 bits and its 5 extra ones are more than may be put at once.
        bits |= (one & 0xffff) << bitCount
        bitCount += one >> 16
        if (bitCount >= 16) {
          out[length++] = bits
          out[length++] = bits >> 8
          bits >>>= 16
          bitCount -= 16
        }
        bits |= (part - lengthBases[lengthCode]!) << bitCount
        bitCount += lengthExtras[lengthCode]!
        if (bitCount >= 16) {
          out[length++] = bits
          out[length++] = bits >> 8
          bits >>>= 16
          bitCount -= 16
        }
        first = other & 0xffff
        firstCount = other >> 16
        second = distance - distanceBases[distanceCode]!
        secondCount = distanceExtras[distanceCode]!
      }
      bits |= first << bitCount
      bitCount += firstCount
      if (bitCount >= 16) {
        out[length++] = bits
        out[length++] = bits >> 8
        bits >>>= 16
        bitCount -= 16
      }
      bits |= second << bitCount
      bitCount += secondCount
      if (bitCount >= 16) {
        out[length++] = bits
        out[length++] = bits >> 8
        bits >>>= 16
        bitCount -= 16
      }
    }
    this.#length = length
    this.#bits = bits
    this.#bitCount = bitCount
    this.#put(symbols[END_OF_BLOCK]! & 0xffff, symbols[END_OF_BLOCK]! >> 16)
  }

  /** At most 16 bits at a time. */
  #put(bits: number, count: number): void {
    this.#bits |= bits << this.#bitCount
    this.#bitCount += count
    if (this.#bitCount < 16) return
    this.#out[this.#length++] = this.#bits & 0xff
    this.#out[this.#length++] = (this.#bits >> 8) & 0xff
    this.#bits >>>= 16
    this.#bitCount -= 16
  }

  #makeRoom(more: number): void {
    if (this.#length + more <= this.#out.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#out.length * 2, this.#length + more))
    this.#out.copy(larger, 0, 0, this.#length)
    this.#out = larger
  }
}

function withLengths(codes: Uint16Array, lengths: Uint8Array): Uint32Array {
  return Uint32Array.from(codes, (code, symbol) => (lengths[symbol]! << 16) | code)
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

/** Lengths of codes, themselves with repetitions told. */
function toRuns(lengths: readonly number[]): Run[] {
  const runs: Run[] = []
  for (let at = 0; at < lengths.length;) {
    const length = lengths[at]!
    let end = at + 1
    while (end < lengths.length && lengths[end] === length) end++
    let count = end - at
    at = end
    if (length !== 0) {
      runs.push({ code: length, extra: 0, extraBits: 0 })
      count--
    }
    while (count > 0) {
      if (length === 0 && count >= 11) {
        const part = Math.min(count, 138)
        runs.push({ code: 18, extra: part - 11, extraBits: 7 })
        count -= part
      } else if (length === 0 && count >= 3) {
        runs.push({ code: 17, extra: count - 3, extraBits: 3 })
        count = 0
      } else if (length !== 0 && count >= 3) {
        const part = Math.min(count, 6)
        runs.push({ code: 16, extra: part - 3, extraBits: 2 })
        count -= part
      } else {
        runs.push({ code: length, extra: 0, extraBits: 0 })
        count--
      }
    }
  }
  return runs
}
