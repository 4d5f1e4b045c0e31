// Boxes, of which MP4 files consist (ISO 14496-12).

export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const length = content.reduce((sum, piece) => sum + piece.length, 8)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(length, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, ...content])
}

/** A box with a version and flags. */
export function fullBox(
  type: string,
  { version = 0, flags = 0 }: { version?: number; flags?: number },
  ...content: readonly Buffer[]
): Buffer {
  return box(type, u32((version << 24) | flags), ...content)
}

export const u8 = (...values: readonly number[]): Buffer => Buffer.from(values)

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, index * 2)
  return bytes
}

export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4)
  return bytes
}

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

export const text = (value: string): Buffer => Buffer.from(value, 'latin1')
