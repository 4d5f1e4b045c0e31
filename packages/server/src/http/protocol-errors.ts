// Requests that never became one: malformed, too large or too slow. The connection ends with them.
import type { Socket } from 'node:net'
import { errorCatalogue, type ErrorCode } from '@berth/contracts/errors'
import { LINGER_MS } from './rest-of-body.ts'

export const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT'
const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  [TIMED_OUT]: 'request_timeout',
}

/** Who goes on sending after its answer gets the time to read it, but not for any amount. */
const MAX_READ_AFTER = 16 * 1024 * 1024

/** How much had been read of each connection when it was answered. */
const answered = new WeakMap<Socket, number>()

export function answerProtocolError(error: Error & { code?: string }, socket: Socket): void {
  const readBefore = answered.get(socket)
  if (readBefore !== undefined) {
    // What comes after an answer is no request either, which Node tells for every piece of it.
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
