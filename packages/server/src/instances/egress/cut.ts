import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/**
 * Ends a connection that broke off. Over TCP the other side gets a reset, as from any server that breaks off: a plain end
 * would look like an answer that is over. TLS itself tells an end from a break, and Node resets nothing under it.
 */
export function cut(stream: Duplex): void {
  const isTcp =
    stream instanceof Socket && !(stream instanceof TLSSocket) && stream.remoteFamily !== undefined
  if (isTcp && !stream.destroyed) stream.resetAndDestroy()
  else stream.destroy()
}
