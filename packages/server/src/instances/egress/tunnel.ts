import type { Duplex } from 'node:stream'

/**
 * Carries bytes both ways until both have ended or one has failed; a slow reader pauses its writer.
 * A silent tunnel is left alone, unless one side has ended: then the other must go on saying something
 * within `halfOpenMs`, because who ended may be gone altogether.
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
    // A client may have ended its half while the other side was being connected to.
    if (from.readableEnded) onEnd()
    else from.once('end', onEnd)
    from.on('error', destroyBoth)
    // Fires after both directions are done, or when the stream was destroyed before.
    from.once('close', () => {
      if (!from.readableEnded || !from.writableFinished) destroyBoth()
      else if (to.closed) clearTimeout(halfOpen)
    })
  }
  if (a.destroyed || b.destroyed) return destroyBoth()
  carry(a, b)
  carry(b, a)
}
