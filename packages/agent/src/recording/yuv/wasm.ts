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
export const shuffle = (a: Code, b: Code, lanes: readonly number[]): Code => [
  ...a,
  ...b,
  ...simd(0x0d),
  ...lanes,
]
export const lowToI16 = (a: Code): Code => [...a, ...simd(0x89)]
export const highToI16 = (a: Code): Code => [...a, ...simd(0x8a)]
export const addI16 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x8e)]
export const addI32 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0xae)]
export const shiftRightI32 = (a: Code, bits: number): Code => [...a, ...i32(bits), ...simd(0xac)]
export const dot = (a: Code, b: Code): Code => [...a, ...b, ...simd(0xba)]
export const narrowToI16 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x85)]
export const narrowToU8 = (a: Code, b: Code): Code => [...a, ...b, ...simd(0x66)]

export function i16Lanes(values: readonly number[]): Code {
  return vector(new Uint8Array(Int16Array.from(values).buffer))
}

export function i32Lanes(value: number): Code {
  return vector(new Uint8Array(Int32Array.from([value, value, value, value]).buffer))
}

const vector = (bytes: Uint8Array): Code => [...simd(0x0c), ...bytes]

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
