// Converts the pixels of a display to the planes that an encoder takes, with one colour for four pixels (yuv420p).
// planes.as does the work.
import { BLACK, BLUE, GREY, LUMA, RED } from './colours.ts'
import { PLANES_WASM } from './planes-wasm.ts'

/** Pixels that are converted at once. A part whose width is no multiple of it has some pixels converted twice. */
export const STRIDE = 16
const PAGE_BYTES = 65_536
const WEIGHTS_BYTES = 20

/** What planes.as exports. */
interface Planes {
  convert(
    pixels: number,
    luma: number,
    lumaStride: number,
    blue: number,
    red: number,
    width: number,
    height: number,
    weights: number,
  ): void
}

// Node's types do not declare the global WebAssembly.
interface Wasm {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}
const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly

let compiled: object | undefined

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
  readonly #program: Planes
  readonly #planesAt: { readonly y: number; readonly u: number; readonly v: number }
  readonly #weightsAt: number
  /** The whole picture, one plane after another. */
  readonly planes: Buffer
  /** The caller writes pixels here before it converts them. */
  readonly room: Buffer

  /** Width and height must be even, and the width at least 16. */
  constructor(size: Size, { roomBytes }: { roomBytes: number }) {
    const pixels = size.width * size.height
    this.#size = size
    this.#planesAt = { y: 0, u: pixels, v: pixels + pixels / 4 }
    const planeBytes = pixels + pixels / 2
    const roomAt = aligned(planeBytes)
    this.#weightsAt = aligned(roomAt + roomBytes)
    const memory = new Memory({ initial: Math.ceil((this.#weightsAt + WEIGHTS_BYTES) / PAGE_BYTES) })
    this.planes = Buffer.from(memory.buffer, 0, planeBytes)
    this.room = Buffer.from(memory.buffer, roomAt, roomBytes)
    writeWeights(Buffer.from(memory.buffer, this.#weightsAt, WEIGHTS_BYTES))
    compiled ??= new Module(Buffer.from(PLANES_WASM, 'base64'))
    // SAFETY: these are the exports of planes.as.
    this.#program = new Instance(compiled, { env: { memory } }).exports as Planes
  }

  /** Converts a part whose pixels begin at `offset` in `room`. Its numbers must be even, and its width at least 16. */
  convert(offset: number, { x, y, width, height }: Part): void {
    const { width: across } = this.#size
    const { y: luma, u: blue, v: red } = this.#planesAt
    const chroma = (y / 2) * (across / 2) + x / 2
    this.#program.convert(
      this.room.byteOffset + offset,
      luma + y * across + x,
      across,
      blue + chroma,
      red + chroma,
      width,
      height,
      this.#weightsAt,
    )
  }
}

const aligned = (bytes: number) => Math.ceil(bytes / 64) * 64

/** Weights in 256ths, in the order in which planes.as reads them. The offsets include half a step, for rounding. */
function writeWeights(to: Buffer): void {
  const weights = [...LUMA, (BLACK << 8) + (1 << 7), BLUE[0], BLUE[2], RED[0], RED[2]]
  for (const [index, weight] of weights.entries()) to.writeInt16LE(weight, index * 2)
  // A colour is the sum of four pixels.
  to.writeInt32LE((GREY << 10) + (1 << 9), weights.length * 2)
}
