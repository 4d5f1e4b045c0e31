// The pieces that a socket is read in are of no use once their bytes are elsewhere. V8 finds out by itself, but late, and
// telling it to look (young-garbage.ts) costs more where a file passes than all else that is done with it.

/**
 * Gives the memory of a piece back at once. Nobody may use it any more, the kernel included: what is still to be
 * written would be read from memory that belongs to somebody else by then. One that shares its memory with other
 * pieces is left to V8.
 */
export function release(piece: Buffer): void {
  const { buffer } = piece
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.length) buffer.transfer(0)
}
