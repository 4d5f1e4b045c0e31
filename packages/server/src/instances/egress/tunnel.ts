import type { Duplex } from 'node:stream'

/**
 * Copies bytes in both directions until both have ended or one has failed, with backpressure.
 * A silent tunnel stays open. Once one side has ended, the other must send something within
 * `halfOpenMs`, because the first may be gone altogether.
 */
export function joinStreams(a: Duplex, b: Duplex, { halfOpenMs }: { halfOpenMs: number }): void {
  let halfOpen: NodeJS.Timeout | undefined
  const destroyBoth = () => {
    clearTimeout(halfOpen)
    a.destroy()
    b.destroy()
  }
  const carry = (from: Duplex, to: Duplex) => {
    from.on('data', (chunk: Buffer) => {
      halfOpen?.refresh()
      if (!to.write(chunk)) from.pause()
    })
    to.on('drain', () => from.resume())
    const onEnd = () => {
      to.end()
      halfOpen ??= setTimeout(destroyBoth, halfOpenMs)
    }
    // A client may have ended its half while we connected to the other side.
    if (from.readableEnded) onEnd()
    else from.once('end', onEnd)
    from.on('error', destroyBoth)
    // Fires when both directions are done, or when the stream was destroyed before.
    from.once('close', () => {
      if (!from.readableEnded || !from.writableFinished) destroyBoth()
      else if (to.closed) clearTimeout(halfOpen)
    })
  }
  if (a.destroyed || b.destroyed) return destroyBoth()
  carry(a, b)
  carry(b, a)
}
