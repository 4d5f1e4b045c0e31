// Reads the PNGs that come out of tests, and checks every sum in them on the way.
import assert from 'node:assert/strict'
import { crc32, inflateSync } from 'node:zlib'

export interface Decoded {
  readonly width: number
  readonly height: number
  /** As 0xRRGGBB. */
  at(x: number, y: number): number
}

const channelsOf: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

export function decodePng(png: Buffer): Decoded {
  assert.equal(png.toString('latin1', 1, 4), 'PNG')
  const data: Buffer[] = []
  let head: Buffer = Buffer.alloc(0)
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    assert.equal(png.readUInt32BE(at + 8 + length), crc32(png.subarray(at + 4, at + 8 + length)), type)
    const body = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') head = body
    if (type === 'IDAT') data.push(body)
    at += 12 + length
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const channels = channelsOf[head[9]!]
  assert.ok(head[8] === 8 && channels, 'eight bits of red, green and blue')
  // Fails when the checksum of zlib is wrong.
  const raw = inflateSync(Buffer.concat(data))
  const rowBytes = width * channels + 1
  assert.equal(raw.length, rowBytes * height)
  undoFilters(raw, { rowBytes, height, channels })
  const at = (x: number, y: number) => raw.readUIntBE(y * rowBytes + 1 + x * channels, 3)
  return { width, height, at }
}

function undoFilters(
  raw: Buffer,
  { rowBytes, height, channels }: { rowBytes: number; height: number; channels: number },
): void {
  for (let row = 0; row < height; row++) {
    const start = row * rowBytes
    const filter = raw[start]!
    for (let column = 1; column < rowBytes; column++) {
      const at = start + column
      const left = column > channels ? raw[at - channels]! : 0
      const above = row > 0 ? raw[at - rowBytes]! : 0
      const corner = row > 0 && column > channels ? raw[at - rowBytes - channels]! : 0
      raw[at] = raw[at]! + predicted(filter, left, above, corner)
    }
  }
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  switch (filter) {
    case 0:
      return 0
    case 1:
      return left
    case 2:
      return above
    case 3:
      return (left + above) >> 1
    default:
      return paeth(left, above, corner)
  }
}

function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner
  const [a, b, c] = [left, above, corner].map((value) => Math.abs(estimate - value)) as [
    number,
    number,
    number,
  ]
  if (a <= b && a <= c) return left
  return b <= c ? above : corner
}
