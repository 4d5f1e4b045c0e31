// The websocket handshake with a program inside an instance. The answer is untrusted, so it is checked and limited in size
// and time.
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'

const MAX_HEAD_BYTES = 16 * 1024
const HEAD_END = '\r\n\r\n'
/** From RFC 6455. */
const ACCEPT_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The program answered, but did not open a websocket. */
export class NotUpgraded extends Error {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>

  constructor(status: number, headers: ReadonlyMap<string, string>) {
    super('The browser did not open a websocket')
    this.status = status
    this.headers = headers
  }
}

/** Leaves the stream paused, before its first frame. Destroys it when it rejects. */
export async function openWebsocket(
  stream: Duplex,
  { path, key, signal }: { path: string; key: string; signal: AbortSignal },
): Promise<void> {
  try {
    stream.on('error', () => {})
    stream.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    )
    checkHead(await readHead(stream, signal), key)
  } catch (error) {
    stream.destroy()
    throw error
  }
}

export function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + ACCEPT_GUID)
    .digest('base64')
}

function checkHead(head: string, key: string): void {
  const [status = '', ...lines] = head.split('\r\n')
  const [, code = '0'] = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(status) ?? []
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  if (code !== '101') throw new NotUpgraded(Number(code), headers)
  if (headers.get('upgrade')?.toLowerCase() !== 'websocket')
    throw new Error('The browser upgraded to another protocol')
  if (headers.get('sec-websocket-accept') !== acceptOf(key))
    throw new Error('The browser sent a wrong Sec-WebSocket-Accept')
  if (headers.has('sec-websocket-extensions') || headers.has('sec-websocket-protocol')) {
    throw new Error('The browser chose an extension or protocol that was not offered')
  }
}

/** Reads up to the empty line; later bytes stay in the paused stream. */
function readHead(stream: Duplex, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0)
    const settle = (error?: Error) => {
      stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', settle)
      signal.removeEventListener('abort', onAbort)
      if (error) reject(error)
    }
    const onAbort = () => settle(signal.reason as Error)
    const onEnd = () => settle(new Error('The browser closed the connection'))
    const onData = (chunk: Buffer) => {
      const seen = Math.max(0, head.length - HEAD_END.length)
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
      const end = head.indexOf(HEAD_END, seen)
      if (end === -1 ? head.length > MAX_HEAD_BYTES : end > MAX_HEAD_BYTES) {
        return settle(new Error('The response headers of the browser are too long'))
      }
      if (end === -1) return
      stream.pause()
      settle()
      const rest = head.subarray(end + HEAD_END.length)
      if (rest.length > 0) stream.unshift(rest)
      resolve(head.toString('latin1', 0, end))
    }
    stream.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', settle)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
  })
}
