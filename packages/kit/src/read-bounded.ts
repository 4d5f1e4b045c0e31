export interface ReadBoundedOptions {
  readonly maxBytes: number
  /** The error for more bytes than that. */
  readonly tooLarge: () => Error
}

/** Reads a stream as a whole, and stops as soon as it is too large. A break of the stream is passed on. */
export async function readBounded(
  stream: AsyncIterable<Buffer>,
  { maxBytes, tooLarge }: ReadBoundedOptions,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
