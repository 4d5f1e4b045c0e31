// Connects to the first of several addresses that answers. It tries the next one when one fails or is
// slow; the slow one may still win (RFC 8305, without its sorting, which the resolver does).
import { connect, type Socket } from 'node:net'
import { EgressRefusal } from './refusal.ts'

/** Some names have dozens of addresses; if none of the first ones answers, the host is down. */
const MAX_ADDRESSES = 8
const KEEP_ALIVE_AFTER_MS = 60_000

export interface DialOptions {
  readonly addresses: readonly string[]
  readonly port: number
  /** For messages. */
  readonly host: string
  readonly nextAfterMs: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export function dial({
  addresses,
  port,
  host,
  nextAfterMs,
  timeoutMs,
  signal,
}: DialOptions): Promise<Socket> {
  const waiting = addresses.slice(0, MAX_ADDRESSES)
  const attempts = new Set<Socket>()
  let next: NodeJS.Timeout | undefined
  let limit: NodeJS.Timeout | undefined

  return new Promise<Socket>((resolve, reject) => {
    const fail = (error: Error) => {
      finish()
      reject(error)
    }
    const onAbort = () => fail(signal.reason as Error)
    const finish = (winner?: Socket) => {
      clearTimeout(next)
      clearTimeout(limit)
      signal.removeEventListener('abort', onAbort)
      waiting.length = 0
      for (const socket of attempts) if (socket !== winner) socket.destroy()
      attempts.clear()
    }
    const tryNext = () => {
      clearTimeout(next)
      const address = waiting.shift()
      if (address === undefined) return
      const socket = connect({
        host: address,
        port,
        // A page may end its half of a tunnel and still wait for the rest of the answer.
        allowHalfOpen: true,
        noDelay: true,
        // Tunnels may be silent for hours; keep-alive finds dead ones.
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS,
      })
      attempts.add(socket)
      socket.once('connect', () => {
        finish(socket)
        resolve(socket)
      })
      // Stays for the socket's lifetime, so that the socket is never without an error listener.
      socket.on('error', (cause) => {
        if (!attempts.delete(socket)) return
        if (waiting.length > 0) tryNext()
        else if (attempts.size === 0) {
          fail(
            new EgressRefusal('egress_failed', `Cannot connect to "${host}:${port}"${describe(cause)}`, {
              cause,
            }),
          )
        }
      })
      if (waiting.length > 0) next = setTimeout(tryNext, nextAfterMs)
    }
    if (signal.aborted) return fail(signal.reason as Error)
    signal.addEventListener('abort', onAbort)
    limit = setTimeout(() => {
      fail(new EgressRefusal('egress_timeout', `Cannot connect to "${host}:${port}": no answer in time`))
    }, timeoutMs)
    tryNext()
  })
}

/** Only the code: the system's message names the address. */
function describe(error: NodeJS.ErrnoException): string {
  return error.code ? `: ${error.code}` : ''
}
