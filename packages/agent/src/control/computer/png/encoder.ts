// Pictures of screens as PNG. Most pixels of a screen are what is above them: said as differences they are zeros,
// which the deflate of Node makes nothing of in no time, on a thread of its own. https://www.w3.org/TR/png-3/

export interface Picture {
  readonly width: number
  readonly height: number
  /** Blue, green, red and one byte that means nothing, for each pixel of each row. */
  readonly pixels: Uint32Array
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const TRUECOLOUR = 2
const SUB_FILTER = 1
const UP_FILTER = 2
/** As fast as the lowest on screens, and smaller. */
const DEFLATE = { level: 2, memLevel: 9, chunkSize: 256 * 1024 }
/** Filtered at once, while the ones before are deflated: a millisecond or so. */
const PIXELS_OF_A_PIECE = 256 * 1024
/** Rows in which more is new are photographs: what is to the left says them better. */
const PHOTO_SHARE = 0.4

export async function encodePng(picture: Picture): Promise<Buffer> {
  // Not imported: a session that takes no screenshot does without.
  const { crc32 } = await import('node:zlib')
  const data = await deflated(picture)
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
  return Buffer.concat([SIGNATURE, ...chunk('IHDR', head), ...chunk('IDAT', ...data), ...chunk('IEND')])
}

async function deflated(picture: Picture): Promise<Buffer[]> {
  const { createDeflate } = await import('node:zlib')
  const deflate = createDeflate(DEFLATE)
  const chunks: Buffer[] = []
  deflate.on('data', (chunk: Buffer) => chunks.push(chunk))
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  deflate.once('end', resolve).once('error', reject)
  const rowsOfAPiece = Math.ceil(PIXELS_OF_A_PIECE / picture.width)
  let before: Promise<unknown> = Promise.resolve()
  for (let row = 0; row < picture.height; row += rowsOfAPiece) {
    const piece = filtered(picture, row, Math.min(picture.height, row + rowsOfAPiece))
    await before
    before = new Promise((taken) => deflate.write(piece, taken))
  }
  await before
  deflate.end()
  await ended
  return chunks
}

/** Rows as PNG has them, each with the filter before it. */
function filtered({ pixels, width }: Picture, from: number, until: number): Buffer {
  const bytes = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength)
  // Of zeros, so that what is the same need not be written.
  const out = Buffer.alloc((until - from) * (1 + width * 3))
  let at = 0
  for (let row = from; row < until; row++, at += 1 + width * 3) {
    const start = row * width
    const [above, here, end] = [(start - width) * 4, start * 4, (start + width) * 4]
    const isSame = row > 0 && bytes.compare(bytes, above, here, here, end) === 0
    if (isSame) out[at] = UP_FILTER
    else if (row === 0 || !writeDifferences(out, at, { pixels, width, start })) {
      writePhoto(out, at, { pixels, width, start })
    }
  }
  return out
}

interface Row {
  readonly pixels: Uint32Array
  readonly width: number
  readonly start: number
}

/** To the row above. False: there is too much of it. */
function writeDifferences(out: Buffer, offset: number, { pixels, width, start }: Row): boolean {
  out[offset] = UP_FILTER
  const most = width * PHOTO_SHARE
  let count = 0
  for (let column = 0, at = offset + 1; column < width; column++, at += 3) {
    const value = pixels[start + column]!
    const above = pixels[start + column - width]!
    if (value === above) continue
    if (++count > most) return false
    // A byte keeps only what fits, which is what the filter asks for.
    out[at] = (value >> 16) - (above >> 16)
    out[at + 1] = (value >> 8) - (above >> 8)
    out[at + 2] = value - above
  }
  return true
}

/** Each pixel by its difference to the one before it. */
function writePhoto(out: Buffer, offset: number, { pixels, width, start }: Row): void {
  out[offset] = SUB_FILTER
  let left = 0
  for (let column = 0, at = offset + 1; column < width; column++, at += 3) {
    const value = pixels[start + column]!
    out[at] = (value >> 16) - (left >> 16)
    out[at + 1] = (value >> 8) - (left >> 8)
    out[at + 2] = value - left
    left = value
  }
}
