/** A file, or a part of one. */
export interface RandomAccess {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
}

/** Reads `length` bytes at the position. Throws the error from `cutOff` if the file ends before that. */
export async function readAt(
  file: RandomAccess,
  { position, length, cutOff }: { position: number; length: number; cutOff: () => Error },
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  for (let from = 0; from < length;) {
    const { bytesRead } = await file.read(buffer, from, length - from, position + from)
    if (bytesRead === 0) throw cutOff()
    from += bytesRead
  }
  return buffer
}
