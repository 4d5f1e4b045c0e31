import type { IncomingMessage } from 'node:http'
import { readBounded } from '@berth/kit/read-bounded'
import { BadRequest } from './bad-request.ts'

/** Above the server's own limit (policies are the largest bodies), because JSON can grow when it is written again. */
const MAX_BODY_BYTES = 6 * 1024 * 1024

export async function readJson(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBounded(request, {
    maxBytes: MAX_BODY_BYTES,
    tooLarge: () => new BadRequest('Cannot read the request: it is too large', 413),
  })
  if (bytes.length === 0) return undefined
  try {
    return JSON.parse(bytes.toString()) as unknown
  } catch {
    throw new BadRequest('Cannot read the request: it is not JSON')
  }
}
