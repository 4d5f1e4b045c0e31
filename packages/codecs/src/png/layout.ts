// Where things are in the memory that rows.as works in, as it has it too.

export const layout = {
  symbolCounts: 0,
  distanceCounts: 0x480,
  lengthCodes: 0x500,
  literalBits: 0x800,
  lengthBits: 0xc00,
  distanceBits: 0x1000,
  out: 0xd1000,
  /** What comes before them in an answer of the display has its place right before them. */
  pixels: 0x1a0000,
} as const

/** What the other half does, on the memory that it is given. */
export interface Rows {
  begin(width: number, pixelsAt: number): void
  /** Up to which row there was room. */
  takeRows(from: number, until: number): number
  putBits(bits: number, count: number): void
  /** With the codes that are in the tables. */
  putTokens(): void
  /** How many bytes are there; their room is free again with the next bits. */
  takeBytes(isLast: boolean): number
  checksum(): number
}
