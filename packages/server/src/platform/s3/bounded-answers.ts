// The SDK reads an answer to its end, whatever it is, and a store is a stranger.
import { Transform, type Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { AnswerTooLarge } from './failure.ts'

/** Each answer of the client may have this many bytes. Only for clients that download nothing. */
export function boundAnswers(client: S3Client, maxBytes: number): void {
  client.middlewareStack.add(
    (next) => async (request) => {
      const result = await next(request)
      const { response } = result as { response: { body?: unknown } }
      if (isReadable(response.body)) response.body = bounded(response.body, maxBytes)
      return result
    },
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  )
}

function bounded(answer: Readable, maxBytes: number): Readable {
  let received = 0
  const bound = new Transform({
    transform(piece: Buffer, _encoding, done) {
      received += piece.length
      done(received > maxBytes ? new AnswerTooLarge() : null, piece)
    },
  })
  answer.on('error', (error) => bound.destroy(error))
  bound.on('close', () => answer.destroy())
  return answer.pipe(bound)
}

const isReadable = (body: unknown): body is Readable =>
  typeof body === 'object' && body !== null && 'pipe' in body
