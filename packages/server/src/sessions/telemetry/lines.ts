// Lines of a stream from an instance: bounded, whatever it sends.
import type { Readable } from 'node:stream'

const NEWLINE = 0x0a

/** Once for each chunk, with the lines that it ends. */
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
    if (length > maxBytes) throw new Error('The agent sent too long a line')
    if (rest.length > 0) pieces.push(rest)
    if (lines.length > 0) yield lines
  }
}
