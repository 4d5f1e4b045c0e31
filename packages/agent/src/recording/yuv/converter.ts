// From the pixels of a display to the planes that an encoder takes: one colour for four pixels (yuv420p). Two rows at a time, sixteen pixels wide, by vector instructions.
import type { Size } from '../../chromium/headless-size.ts'
import { BLACK, BLUE, GREY, LUMA, RED } from './colours.ts'
import * as w from './wasm.ts'

/** Of what is converted at once, in pixels; parts that begin in between are done twice. */
export const STRIDE = 16
const PAGE_BYTES = 65_536

// Node has it; its types have it only for browsers.
interface Wasm {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> }
}
const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly

export interface Part {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export class Converter {
  readonly #size: Size
  readonly #run: (...parameters: number[]) => void
  readonly #planesAt: { readonly y: number; readonly u: number; readonly v: number }
  readonly #roomAt: number
  /** The whole picture, plane after plane. */
  readonly planes: Buffer
  /** For pixels on their way in. */
  readonly rooms: readonly Buffer[]

  /** Width and height are even, and the width is not below 16. */
  constructor(size: Size, { rooms, roomBytes }: { rooms: number; roomBytes: number }) {
    const { width, height } = size
    const pixels = width * height
    this.#size = size
    this.#planesAt = { y: 0, u: pixels, v: pixels + pixels / 4 }
    const planeBytes = pixels + pixels / 2
    this.#roomAt = aligned(planeBytes)
    const bytes = this.#roomAt + rooms * aligned(roomBytes)
    const memory = new Memory({ initial: Math.ceil(bytes / PAGE_BYTES) })
    this.planes = Buffer.from(memory.buffer, 0, planeBytes)
    this.rooms = Array.from({ length: rooms }, (_each, index) =>
      Buffer.from(memory.buffer, this.#roomAt + index * aligned(roomBytes), roomBytes),
    )
    const instance = new Instance(rowPairModule(), { env: { memory } })
    this.#run = instance.exports['run'] as (...parameters: number[]) => void
  }

  /** Of a part whose numbers are even, and which is at least 16 wide; its pixels are in one of the rooms. */
  convert(room: Buffer, offset: number, { x, y, width, height }: Part): void {
    const { width: across } = this.#size
    const rowBytes = width * 4
    const from = room.byteOffset + offset
    for (let row = 0; row < height; row += 2) {
      const source = from + row * rowBytes
      const luma = this.#planesAt.y + (y + row) * across + x
      const chroma = ((y + row) / 2) * (across / 2) + x / 2
      this.#run(
        source,
        source + rowBytes,
        luma,
        luma + across,
        this.#planesAt.u + chroma,
        this.#planesAt.v + chroma,
        width - STRIDE,
      )
    }
  }
}

const aligned = (bytes: number) => Math.ceil(bytes / 64) * 64

let compiled: object | undefined
const rowPairModule = () => (compiled ??= new Module(rowPair()))

/** Two rows of pixels at SOURCE to two of luma, and one each of the colours. */
function rowPair(): Uint8Array {
  const [upper, lower, luma0, luma1, blue, red, last, x] = [0, 1, 2, 3, 4, 5, 6, 7].map((local) =>
    w.get(local),
  )
  const X = 7
  const FIRST_VECTOR = 8
  const local = (index: number) => FIRST_VECTOR + index
  // Four steps of four pixels: luma of both rows, and the sums of two by two pixels.
  const [LUMA0, LUMA1, SUMS, LOW0, HIGH0, LOW1, HIGH1, RAW] = [0, 4, 8, 12, 13, 14, 15, 16].map(local) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const vector = w.get
  const code: number[] = []
  const emit = (...parts: w.Code[]) => parts.forEach((part) => code.push(...part))

  const pixels = (row: w.Code) => w.add(row, w.shiftLeft(x!, 2))
  for (let step = 0; step < 4; step++) {
    for (const [row, low, high, target] of [
      [upper!, LOW0, HIGH0, LUMA0],
      [lower!, LOW1, HIGH1, LUMA1],
    ] as const) {
      emit(w.load(pixels(row), step * 16), w.set(RAW))
      emit(w.lowToI16(vector(RAW)), w.set(low))
      emit(w.highToI16(vector(RAW)), w.set(high))
      emit(weighed(vector(low), vector(high), LUMA), w.set(target + step))
    }
    // Rows one upon the other, then neighbours one upon the other.
    emit(w.addI16(vector(LOW0), vector(LOW1)), w.set(LOW0))
    emit(w.addI16(vector(HIGH0), vector(HIGH1)), w.set(HIGH0))
    const evens = w.shuffle(vector(LOW0), vector(HIGH0), pixelLanes(0))
    const odds = w.shuffle(vector(LOW0), vector(HIGH0), pixelLanes(1))
    emit(w.addI16(evens, odds), w.set(SUMS + step))
  }
  const lumaOf = (first: number) => {
    const [a, b, c, d] = [0, 1, 2, 3].map((step) => scaled(vector(first + step), { bits: 8, zero: BLACK }))
    return w.narrowToU8(w.narrowToI16(a!, b!), w.narrowToI16(c!, d!))
  }
  emit(w.store(w.add(luma0!, x!), lumaOf(LUMA0)))
  emit(w.store(w.add(luma1!, x!), lumaOf(LUMA1)))
  for (const [plane, weights] of [
    [blue!, BLUE],
    [red!, RED],
  ] as const) {
    const halves = [0, 2].map((step) =>
      scaled(weighed(vector(SUMS + step), vector(SUMS + step + 1), weights), { bits: 10, zero: GREY }),
    )
    const bytes = w.narrowToI16(halves[0]!, halves[1]!)
    emit(w.storeHalf(w.add(plane, w.shiftRight(x!, 1)), w.narrowToU8(bytes, bytes)))
  }
  emit(w.breakIf(1, w.isEqual(x!, last!)))
  const next = w.add(x!, w.i32(STRIDE))
  // The last step ends where the row does, and overlaps the one before.
  emit(w.choose(last!, next, w.isGreater(next, last!)), w.set(X), w.repeat(0))
  return w.moduleOf({ parameters: 7, i32s: 1, v128s: 17, body: w.block(w.loop(code)) })
}

/** Of four pixels, each of four channels in 16 bits: the sums of channels by their weights. */
function weighed(low: w.Code, high: w.Code, weights: readonly number[]): w.Code {
  const by = w.i16Lanes([...weights, ...weights])
  const [a, b] = [w.dot(low, by), w.dot(high, by)]
  return w.addI32(w.shuffle(a, b, sumLanes(0)), w.shuffle(a, b, sumLanes(1)))
}

function scaled(sum: w.Code, { bits, zero }: { bits: number; zero: number }): w.Code {
  const rounding = 1 << (bits - 1)
  return w.shiftRightI32(w.addI32(sum, w.i32Lanes((zero << bits) + rounding)), bits)
}

/** Every other word of 32 bits, of two vectors; and of 64 bits. */
const sumLanes = (odd: number) => [0, 2, 4, 6].flatMap((word) => lanes((word + odd) * 4, 4))
const pixelLanes = (odd: number) => [0, 2].flatMap((word) => lanes((word + odd) * 8, 8))
const lanes = (first: number, count: number) => Array.from({ length: count }, (_each, index) => first + index)
