// Answers requests that Node cannot parse: malformed, too large or too slow. It then closes the connection.
import type { Socket } from 'node:net'
import { errorCatalogue, type ErrorCode } from '@berth/contracts/errors'
import { LINGER_MS } from './rest-of-body.ts'

export const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT'
const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  [TIMED_OUT]: 'request_timeout',
}

/** A client that still sends after its answer gets time to read it, up to this many bytes. */
const MAX_READ_AFTER = 16 * 1024 * 1024

/** How many bytes each connection had sent when it was answered. */
const answered = new WeakMap<Socket, number>()

export function answerProtocolError(error: Error & { code?: string }, socket: Socket): void {
  const readBefore = answered.get(socket)
  if (readBefore !== undefined) {
    // Node reports every chunk after the answer as another parse error.
    if (error.code === 'ECONNRESET' || socket.bytesRead - readBefore > MAX_READ_AFTER) socket.destroy()
    return
  }
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code = codes[error.code ?? ''] ?? 'bad_request'
  const { status, meaning } = errorCatalogue[code]
  const body = JSON.stringify({ code, message: meaning })
  socket.end(
    `HTTP/1.1 ${status} Error\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  answered.set(socket, socket.bytesRead)
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}
