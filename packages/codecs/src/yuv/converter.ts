// From the pixels of a display to the planes that an encoder takes: one colour for four pixels (yuv420p). Two rows at a time, sixteen pixels wide, by vector instructions.
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

export interface Size {
  readonly width: number
  readonly height: number
}

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
  /** The whole picture, plane after plane. */
  readonly planes: Buffer
  /** For pixels on their way in. */
  readonly room: Buffer

  /** Width and height are even, and the width is not below 16. */
  constructor(size: Size, { roomBytes }: { roomBytes: number }) {
    const { width, height } = size
    const pixels = width * height
    this.#size = size
    this.#planesAt = { y: 0, u: pixels, v: pixels + pixels / 4 }
    const planeBytes = pixels + pixels / 2
    const roomAt = aligned(planeBytes)
    const memory = new Memory({ initial: Math.ceil((roomAt + roomBytes) / PAGE_BYTES) })
    this.planes = Buffer.from(memory.buffer, 0, planeBytes)
    this.room = Buffer.from(memory.buffer, roomAt, roomBytes)
    const instance = new Instance(rowPairModule(), { env: { memory } })
    this.#run = instance.exports['run'] as (...parameters: number[]) => void
  }

  /** Of a part whose numbers are even, and which is at least 16 wide; its pixels are in the room, from there on. */
  convert(offset: number, { x, y, width, height }: Part): void {
    const { width: across } = this.#size
    const rowBytes = width * 4
    const from = this.room.byteOffset + offset
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

/**
 * Two rows of pixels to two of luma, and one each of the colours. First each channel by itself, for which taking
 * every other byte is one instruction, and then sixteen pixels of it at once.
 */
function rowPair(): Uint8Array {
  const [upper, lower, luma0, luma1, blue, red, last, x] = [0, 1, 2, 3, 4, 5, 6, 7].map((local) =>
    w.get(local),
  )
  const X = 7
  const FIRST_VECTOR = 8
  const [RAW, BLUES, GREENS, REDS, FOUR_BLUES, FOUR_GREENS, FOUR_REDS] = [0, 4, 5, 6, 7, 8, 9].map(
    (index) => FIRST_VECTOR + index,
  ) as [number, number, number, number, number, number, number]
  const channels = [
    { all: BLUES, four: FOUR_BLUES },
    { all: GREENS, four: FOUR_GREENS },
    { all: REDS, four: FOUR_REDS },
  ]
  const vector = w.get
  const constants = new w.Constants(FIRST_VECTOR + 10)
  const code: number[] = []
  const emit = (...parts: w.Code[]) => parts.forEach((part) => code.push(...part))

  for (const [row, luma] of [
    [upper!, luma0!],
    [lower!, luma1!],
  ] as const) {
    const pixels = w.add(row, w.shiftLeft(x!, 2))
    for (let step = 0; step < 4; step++) emit(w.load(pixels, step * 16), w.set(RAW + step))
    const [a, b, c, d] = [0, 1, 2, 3].map((step) => vector(RAW + step)) as [w.Code, w.Code, w.Code, w.Code]
    emit(w.evenBytes(w.oddBytes(a, b), w.oddBytes(c, d)), w.set(GREENS))
    emit(w.evenBytes(a, b), w.set(RAW), w.evenBytes(c, d), w.set(RAW + 2))
    emit(w.evenBytes(a, c), w.set(BLUES), w.oddBytes(a, c), w.set(REDS))
    emit(w.store(w.add(luma, x!), w.oddBytes(lumaOf(w.lowProduct), lumaOf(w.highProduct))))
    for (const { all, four } of channels) {
      const pairs = w.pairSums(vector(all))
      emit(row === upper ? pairs : w.addI16(vector(four), pairs), w.set(four))
    }
  }

  /** Of eight pixels, in 256ths: what is wanted is the upper byte. */
  function lumaOf(product: (a: w.Code, b: w.Code) => w.Code): w.Code {
    const parts = channels.map(({ all }, index) => product(vector(all), constants.bytes(LUMA[index]!)))
    return parts.reduce((sum, part) => w.addI16(sum, part), constants.i16s((BLACK << 8) + (1 << 7)))
  }

  // What a colour weighs adds up to nothing, so two differences from green are all that counts.
  emit(w.subI16(vector(FOUR_BLUES), vector(FOUR_GREENS)), w.set(FOUR_BLUES))
  emit(w.subI16(vector(FOUR_REDS), vector(FOUR_GREENS)), w.set(FOUR_REDS))
  for (const [plane, [ofBlue, , ofRed]] of [
    [blue!, BLUE],
    [red!, RED],
  ] as const) {
    const [low, high] = [w.lowWideProduct, w.highWideProduct].map((product) => {
      const blues = product(vector(FOUR_BLUES), constants.i16s(ofBlue))
      const sum = w.addI32(blues, product(vector(FOUR_REDS), constants.i16s(ofRed)))
      // In 256ths, of four pixels.
      return w.shiftRightI32(w.addI32(sum, constants.i32s((GREY << 10) + (1 << 9))), 10)
    }) as [w.Code, w.Code]
    const colours = w.narrowToI16(low, high)
    emit(w.storeHalf(w.add(plane, w.shiftRight(x!, 1)), w.narrowToU8(colours, colours)))
  }
  emit(w.breakIf(1, w.isEqual(x!, last!)))
  const next = w.add(x!, w.i32(STRIDE))
  // The last step ends where the row does, and overlaps the one before.
  emit(w.choose(last!, next, w.isGreater(next, last!)), w.set(X), w.repeat(0))
  return w.moduleOf({
    parameters: 7,
    i32s: 1,
    v128s: 10 + constants.count,
    body: [...constants.code, ...w.block(w.loop(code))],
  })
}
