// Chunks from a socket are garbage as soon as their bytes are copied or sent. V8 notices late, and forcing a collection
// (collect-passed-pieces.ts) costs more than everything else that happens to a file on its way.

/**
 * Frees the memory of a chunk at once. Nothing may use the chunk afterwards, including the kernel: a pending write would
 * send memory that is already reused. A chunk that shares its memory with others is left to V8.
 */
export function freeBuffer(piece: Buffer): void {
  const { buffer } = piece
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.length) buffer.transfer(0)
}
