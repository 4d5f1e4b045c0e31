import type { Readable } from 'node:stream'
import { LineSplitter } from '@berth/kit/lines'

/** Yields the lines that each chunk of a stream from an instance completes. */
export async function* linesOf(
  stream: Readable,
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<string[]> {
  const splitter = new LineSplitter({ maxBytes })
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines = splitter.split(chunk)
    if (lines.length > 0) yield lines.map(String)
  }
}
