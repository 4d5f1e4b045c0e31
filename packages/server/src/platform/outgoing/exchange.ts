// One request over a connection that is open already, with one answer. Redirects are not followed.
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'

const MAX_HEADER_BYTES = 16 * 1024

export interface Sent {
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

/**
 * Posts the body and returns what `read` makes of the answer. The connection is closed at the end, whatever happens, and
 * as soon as the signal fires.
 */
export async function exchange<T>(
  connection: Duplex,
  url: URL,
  sent: Sent,
  { read, signal }: { read: (answer: IncomingMessage) => Promise<T>; signal: AbortSignal },
): Promise<T> {
  connection.on('error', () => {})
  const cut = () => connection.destroy()
  signal.addEventListener('abort', cut)
  try {
    signal.throwIfAborted()
    return await read(await post(connection, url, sent))
  } finally {
    signal.removeEventListener('abort', cut)
    cut()
  }
}

function post(connection: Duplex, url: URL, { path, headers, body }: Sent): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:'
  return new Promise((resolve, reject) => {
    const sending = request({
      method: 'POST',
      path,
      headers: { ...headers, Host: url.host, Connection: 'close', 'Content-Length': body.length },
      createConnection: () => (isSecure ? overTls(connection, url.hostname) : connection),
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    sending.once('response', resolve)
    sending.on('error', reject)
    sending.once('close', () => reject(new Error('closed without an answer')))
    sending.end(body)
  })
}

function overTls(socket: Duplex, hostname: string): Duplex {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  const secured = connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) })
  // The request also sees the error while it lasts.
  secured.on('error', () => {})
  return secured
}

/** A code such as ECONNREFUSED or CERT_HAS_EXPIRED, in brackets; nothing else of a failure may be shown. */
export function failureCode(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : ''
}
