import type { Duplex } from 'node:stream'

/**
 * Passes bytes both ways until either end is over, then ends both. A reader that is slow slows its
 * writer; nothing is buffered beyond what the sockets hold.
 */
export function splice(one: Duplex, other: Duplex, onData?: () => void): void {
  forward(one, other, onData)
  forward(other, one, onData)
}

// Writing on `data` is a little faster than pipe().
function forward(from: Duplex, to: Duplex, onData: (() => void) | undefined): void {
  // It may have gone while the other was being dialled, and would not say so again.
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
  // What is already written still arrives.
  from.once('close', () => void to.end(() => to.destroy()))
  from.resume()
}
