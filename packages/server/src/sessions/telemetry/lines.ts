// Splits a stream from an instance into lines of limited length.
import type { Readable } from 'node:stream'

const NEWLINE = 0x0a

/** Yields the lines that each chunk completes. */
export async function* linesOf(
  stream: Readable,
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<string[]> {
  let pieces: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines: string[] = []
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      lines.push(Buffer.concat([...pieces, chunk.subarray(from, end)]).toString())
      pieces = []
      length = 0
      from = end + 1
    }
    const rest = chunk.subarray(from)
    length += rest.length
    if (length > maxBytes) throw new Error('The agent sent a line that is too long')
    if (rest.length > 0) pieces.push(rest)
    if (lines.length > 0) yield lines
  }
}
