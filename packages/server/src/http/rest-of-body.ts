import type { IncomingMessage } from 'node:http'

/** Long enough for a client to read its answer and stop sending. */
export const LINGER_MS = 5_000

/**
 * For a request that is answered before its body has arrived. Reads and drops the rest: closing at once would
 * reset the connection, and the client could lose the answer. After a while the connection is closed anyway.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  request.unpipe()
  request.resume()
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(timer))
}
