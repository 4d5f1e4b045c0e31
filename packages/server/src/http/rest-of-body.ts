import type { IncomingMessage } from 'node:http'

/** Long enough for a client to read its answer and stop sending. */
export const LINGER_MS = 5_000

/**
 * Of a request that was answered before all of it came. It is read and thrown away: closing at once would
 * reset the connection, and the client could lose the answer. Who goes on sending is cut off after a while.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  request.unpipe()
  request.resume()
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(timer))
}
