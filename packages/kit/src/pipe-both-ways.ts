import type { Duplex } from 'node:stream'

/**
 * Passes bytes in both directions until one side ends, then ends both. A slow reader slows down its writer. Nothing is
 * buffered beyond the buffers of the sockets.
 */
export function pipeBothWays(one: Duplex, other: Duplex, onData?: () => void): void {
  forward(one, other, onData)
  forward(other, one, onData)
}

// Writing on `data` is a little faster than pipe().
function forward(from: Duplex, to: Duplex, onData: (() => void) | undefined): void {
  // The socket may have closed before this call, and does not emit `close` again.
  if (from.destroyed) {
    to.destroy()
    return
  }
  from.on('data', (chunk: Buffer) => {
    if (!to.write(chunk)) from.pause()
    onData?.()
  })
  to.on('drain', () => from.resume())
  from.on('error', () => to.destroy())
  from.once('end', () => to.end())
  // Let written data arrive first.
  from.once('close', () => void to.end(() => to.destroy()))
  from.resume()
}
