import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PROXY_ERROR_HEADER } from '@berth/contracts/telemetry-events'
import type { EgressRefusal } from './refusal.ts'

export function refuseRequest(response: ServerResponse, refusal: EgressRefusal): void {
  if (response.headersSent || response.destroyed) response.destroy()
  else response.writeHead(refusal.status, headersOf(refusal)).end(refusal.body)
}

/** After CONNECT, the connection is a bare socket, so we write the answer ourselves. */
export function refuseConnect(socket: Socket, refusal: EgressRefusal): void {
  const { status, body } = refusal
  const headers = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`)
  socket.destroySoon()
}

function headersOf({ body, proxyStatus, proxyError }: EgressRefusal): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Proxy-Status': proxyStatus,
    ...(proxyError && { [PROXY_ERROR_HEADER]: proxyError }),
    Connection: 'close',
  }
}
