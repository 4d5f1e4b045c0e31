// Encodes pictures of screens as PNG. Most pixels of a screen equal the pixel above, and most others appeared shortly
// before. Comparing sixteen bytes at a time takes a third of the time of Node's deflate. https://www.w3.org/TR/png-3/
import { setImmediate as otherWork } from 'node:timers/promises'
import { freeBuffer } from '@berth/kit/free-buffer'
import { BadInput } from '@berth/kit/bad-input'
import { putBlock, setLengthCodes } from './deflate-block.ts'
import { layout, type Rows } from './layout.ts'
import { ROWS_WASM } from './rows-wasm.ts'

export interface Picture {
  readonly width: number
  readonly height: number
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const ZLIB_HEAD = Buffer.from([0x78, 0x01])
const TRUECOLOUR = 2
const PAGE_BYTES = 64 * 1024
/** Loads of sixteen bytes may reach beyond the pixels. */
const SLACK_BYTES = 64
/** The tokens of one row must fit into a block, even if every pixel is new. */
const MAX_WIDTH = 20_000
/** The largest screen of a session. Programs in the instance can make the display larger; such a picture is refused. */
const MAX_PIXELS = 7680 * 4320
/** Longest time without giving other work a turn, and how many pixels pass between two looks at the clock. */
const MAX_STRETCH_MS = 4
const PIXELS_BETWEEN_LOOKS = 128 * 1024

/** The part of WebAssembly that is used here; Node's types do not declare the global. */
interface Assembly {
  readonly Memory: new (options: { initial: number }) => { readonly buffer: ArrayBuffer }
  compile(program: Uint8Array): Promise<object>
  instantiate(module: object, imports: object): Promise<{ readonly exports: unknown }>
}
const { WebAssembly: assembly } = globalThis as unknown as { WebAssembly: Assembly }

let compiled: Promise<object> | undefined

/** Has memory for one picture, which the caller writes there. */
export class PngEncoder {
  readonly #memory: ArrayBuffer
  readonly #rows: Rows

  private constructor(memory: ArrayBuffer, rows: Rows) {
    this.#memory = memory
    this.#rows = rows
    setLengthCodes(memory)
  }

  /** Refuses pictures larger than the largest screen. */
  static async open(picture: Picture): Promise<PngEncoder> {
    const bytes = bytesFor(picture)
    compiled ??= assembly.compile(Buffer.from(ROWS_WASM, 'base64'))
    const memory = new assembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) })
    const { exports } = await assembly.instantiate(await compiled, { env: { memory } })
    // SAFETY: these are the exports of rows.as.
    return new PngEncoder(memory.buffer, exports as Rows)
  }

  hasRoomFor(picture: Picture): boolean {
    return bytesFor(picture) <= this.#memory.byteLength
  }

  /**
   * The memory for the pixels, row by row: blue, green, red and one unused byte each. `before` adds so many bytes
   * before them.
   */
  room(picture: Picture, { before = 0 }: { before?: number } = {}): Buffer {
    return Buffer.from(this.#memory, layout.pixels - before, before + picture.width * picture.height * 4)
  }

  /** Encodes the picture in room(). */
  async encode(picture: Picture): Promise<Buffer> {
    // Imported here, because many sessions never take a screenshot.
    const { crc32 } = await import('node:zlib')
    const blocks = await this.#deflate(picture)
    const adler = Buffer.alloc(4)
    adler.writeUInt32BE(this.#rows.checksum() >>> 0)
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
    const data = chunk('IDAT', ZLIB_HEAD, ...blocks, adler)
    const png = Buffer.concat([SIGNATURE, ...chunk('IHDR', head), ...data, ...chunk('IEND')])
    blocks.forEach(freeBuffer)
    return png
  }

  async #deflate({ width, height }: Picture): Promise<Buffer[]> {
    const rows = this.#rows
    const rowsBetweenLooks = Math.ceil(PIXELS_BETWEEN_LOOKS / width)
    const blocks: Buffer[] = []
    rows.begin(width, layout.pixels)
    let began = performance.now()
    for (let row = 0; row < height;) {
      const until = Math.min(height, row + rowsBetweenLooks)
      row = rows.takeRows(row, until)
      // It stopped early, because the block has no room for more tokens.
      if (row < until || row === height) blocks.push(this.#endBlock({ isLast: row === height }))
      if (performance.now() - began < MAX_STRETCH_MS) continue
      await otherWork()
      began = performance.now()
    }
    return blocks
  }

  #endBlock({ isLast }: { isLast: boolean }): Buffer {
    putBlock(this.#rows, this.#memory, { isLast })
    const length = this.#rows.takeBytes(isLast)
    const block = Buffer.allocUnsafeSlow(length)
    block.set(new Uint8Array(this.#memory, layout.out, length))
    return block
  }
}

function bytesFor({ width, height }: Picture): number {
  if (width > MAX_WIDTH || width * height > MAX_PIXELS) {
    throw new BadInput(
      `Cannot take a picture of ${width}x${height} pixels: it is too large; ask for a region of it`,
    )
  }
  return layout.pixels + width * height * 4 + SLACK_BYTES
}
