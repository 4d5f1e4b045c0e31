// Runs in Node and in pages.
import { createParser } from 'eventsource-parser'

export interface FollowedEvent {
  readonly id: string | undefined
  readonly data: string
}

/** The events of an answer, as they come. Throws for an event that is longer than `maxLength` characters. */
export async function* followSse(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  { maxLength }: { maxLength: number },
): AsyncGenerator<FollowedEvent> {
  let found: FollowedEvent[] = []
  let failure: Error | undefined
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent: ({ id, data }) => found.push({ id, data }),
    onError: (error) => {
      // A field that nobody knows is to be ignored, by the standard.
      if (error.type === 'max-buffer-size-exceeded') failure = error
    },
  })
  const decoder = new TextDecoder()
  for await (const piece of piecesOf(body)) {
    parser.feed(decoder.decode(piece, { stream: true }))
    if (failure) throw new Error(`Cannot follow the events: ${failure.message}`, { cause: failure })
    yield* found
    found = []
  }
}

/** Not every browser can iterate over a stream. Who stops to follow ends the stream. */
async function* piecesOf(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (!('getReader' in body)) return yield* body
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
