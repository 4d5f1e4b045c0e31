// The memory layout that this code shares with rows.as.

export const layout = {
  symbolCounts: 0,
  distanceCounts: 0x480,
  lengthCodes: 0x500,
  literalBits: 0x800,
  lengthBits: 0xc00,
  distanceBits: 0x1000,
  out: 0xd1000,
  /** The display's reply has a head before the pixels; it goes directly before this offset. */
  pixels: 0x1a0000,
} as const

/** The exports of rows.as. */
export interface Rows {
  begin(width: number, pixelsAt: number): void
  /** Returns the first row that did not fit into the block. */
  takeRows(from: number, until: number): number
  putBits(bits: number, count: number): void
  /** Writes the tokens with the codes in the tables. */
  putTokens(): void
  /** Returns the number of bytes in `out`. The next bits overwrite them. */
  takeBytes(isLast: boolean): number
  checksum(): number
}
