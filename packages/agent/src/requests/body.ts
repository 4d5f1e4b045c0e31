import type { IncomingMessage } from 'node:http'
import { BadRequest } from './bad-request.ts'

/** Above the server's own limit (policies are the largest bodies), because JSON can grow when it is written again. */
const MAX_BODY_BYTES = 6 * 1024 * 1024

export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY_BYTES) throw new BadRequest('Cannot read the request: it is too large', 413)
    chunks.push(chunk)
  }
  if (length === 0) return undefined
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown
  } catch {
    throw new BadRequest('Cannot read the request: it is not JSON')
  }
}
