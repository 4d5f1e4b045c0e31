// Sends errors as HTTP answers, on raw sockets and on response objects. Then the connection closes, because the bytes
// that follow were meant for a websocket.
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '../../platform/errors/app-error.ts'
import { errorHeaders, toErrorBody } from '../../http/errors.ts'
import { endSoon } from './splice.ts'

const GRACE_MS = 1_000

interface Refusal {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

export function refuseSocket(socket: Duplex, error: unknown): void {
  if (socket.destroyed) return
  const { status, headers, body } = toRefusal(error)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`)
  endSoon(socket, GRACE_MS)
}

export function refuseRequest(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return
  const { status, headers, body } = toRefusal(error)
  response.writeHead(status, headers).end(body)
}

export function isFault(error: unknown): boolean {
  return !(error instanceof AppError && error.status < 500)
}

function toRefusal(error: unknown): Refusal {
  const known =
    error instanceof AppError
      ? error
      : new AppError('internal_error', 'Cannot connect: the server had an internal error; see its log')
  const { status } = known
  const body = JSON.stringify(toErrorBody(known))
  return {
    status,
    headers: {
      ...errorHeaders(known),
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      // RFC 9110, section 7.8: the Connection header must list Upgrade.
      connection: status === 426 ? 'close, upgrade' : 'close',
    },
    body,
  }
}
