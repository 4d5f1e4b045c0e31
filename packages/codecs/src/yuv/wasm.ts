// As much of WebAssembly's binary format as one function takes. Written by hand because nothing in the
// tool chain compiles to it, and JavaScript takes six times as long for the same pixels.
// https://webassembly.github.io/spec/core/binary/

export type Code = readonly number[]

const I32 = 0x7f
const V128 = 0x7b
const NO_RESULT = 0x40
const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]

/** Unsigned LEB128. */
export function unsigned(value: number): Code {
  const bytes: number[] = []
  let rest = value
  do {
    const low = rest & 0x7f
    rest >>>= 7
    bytes.push(rest === 0 ? low : low | 0x80)
  } while (rest !== 0)
  return bytes
}

function signed(value: number): Code {
  const bytes: number[] = []
  let rest = value
  for (;;) {
    const low = rest & 0x7f
    rest >>= 7
    const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)
    bytes.push(isLast ? low : low | 0x80)
    if (isLast) return bytes
  }
}

const simd = (number: number): Code => [0xfd, ...unsigned(number)]
const memory = (offset: number): Code => [0, ...unsigned(offset)]

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number): Code => [0x21, ...unsigned(local)]
export const i32 = (value: number): Code => [0x41, ...signed(value)]
export const add = (a: Code, b: Code): Code => [...a, ...b, 0x6a]
export const sub = (a: Code, b: Code): Code => [...a, ...b, 0x6b]
export const shiftLeft = (a: Code, bits: number): Code => [...a, ...i32(bits), 0x74]
export const shiftRight = (a: Code, bits: number): Code => [...a, ...i32(bits), 0x76]
export const isEqual = (a: Code, b: Code): Code => [...a, ...b, 0x46]
export const isGreater = (a: Code, b: Code): Code => [...a, ...b, 0x4a]
export const choose = (yes: Code, no: Code, condition: Code): Code => [...yes, ...no, ...condition, 0x1b]
export const block = (body: Code): Code => [0x02, NO_RESULT, ...body, 0x0b]
export const loop = (body: Code): Code => [0x03, NO_RESULT, ...body, 0x0b]
export const breakIf = (depth: number, condition: Code): Code => [...condition, 0x0d, ...unsigned(depth)]
export const repeat = (depth: number): Code => [0x0c, ...unsigned(depth)]

export const load = (address: Code, offset = 0): Code => [...address, ...simd(0x00), ...memory(offset)]
export const store = (address: Code, value: Code): Code => [...address, ...value, ...simd(0x0b), ...memory(0)]
/** The low half of a vector. */
export const storeHalf = (address: Code, value: Code): Code => [
  ...address,
  ...value,
  ...simd(0x5b),
  ...memory(0),
  0,
]
/** Of the bytes of two vectors in a row, every other one. */
export const evenBytes = (a: Code, b: Code): Code => everyOther(a, b, 0)
export const oddBytes = (a: Code, b: Code): Code => everyOther(a, b, 1)
const everyOther = (a: Code, b: Code, first: number): Code => [
  ...a,
  ...b,
  ...simd(0x0d),
  ...Array.from({ length: 16 }, (_each, index) => first + index * 2),
]

/** Of unsigned bytes: sums of neighbours, and products of the first and of the last eight. */
export const pairSums = (a: Code): Code => [...a, ...simd(0x7d)]
export const lowProduct = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x9e)]
export const highProduct = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x9f)]
/** Of signed numbers of 16 bits: products of the first and of the last four. */
export const lowWideProduct = (a: Code, b: Code): Code => [...a, ...b, ...simd(0xbc)]
export const highWideProduct = (a: Code, b: Code): Code => [...a, ...b, ...simd(0xbd)]

export const addI16 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x8e)]
export const subI16 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x91)]
export const addI32 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0xae)]
export const shiftRightI32 = (a: Code, bits: number): Code => [...a, ...i32(bits), ...simd(0xac)]
export const narrowToI16 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x85)]
export const narrowToU8 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x66)]

/**
 * Vectors with the same number everywhere, each in a local that is set before the loop: V8 makes a constant anew
 * wherever it stands, which took a third of the time.
 */
export class Constants {
  readonly #first: number
  readonly #known = new Map<string, { readonly value: Code; readonly local: number }>()

  constructor(first: number) {
    this.#first = first
  }

  bytes(value: number): Code {
    return this.#get(new Uint8Array(16).fill(value))
  }

  i16s(value: number): Code {
    return this.#get(new Int16Array(8).fill(value))
  }

  i32s(value: number): Code {
    return this.#get(new Int32Array(4).fill(value))
  }

  get count(): number {
    return this.#known.size
  }

  /** Sets all of them. */
  get code(): Code {
    return [...this.#known.values()].flatMap(({ value, local }) => [...simd(0x0c), ...value, ...set(local)])
  }

  #get({ buffer }: Uint8Array | Int16Array | Int32Array): Code {
    const value = [...new Uint8Array(buffer)]
    const known = this.#known.get(value.join()) ?? { value, local: this.#first + this.#known.size }
    this.#known.set(value.join(), known)
    return get(known.local)
  }
}

/** A module with one function, which works on the memory it is given. */
export function moduleOf(options: {
  parameters: number
  i32s: number
  v128s: number
  body: Code
}): Uint8Array {
  const { parameters, i32s, v128s, body } = options
  const type = [1, 0x60, ...unsigned(parameters), ...Array<number>(parameters).fill(I32), 0]
  const imports = [1, ...name('env'), ...name('memory'), 0x02, 0x00, 0]
  const exports = [1, ...name('run'), 0x00, 0]
  const locals = [2, ...unsigned(i32s), I32, ...unsigned(v128s), V128]
  const code = [...locals, ...body, 0x0b]
  return Uint8Array.from([
    ...MAGIC,
    ...section(1, type),
    ...section(2, imports),
    ...section(3, [1, 0]),
    ...section(7, exports),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ])
}

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content]
const name = (text: string): Code => [...unsigned(text.length), ...Buffer.from(text)]
