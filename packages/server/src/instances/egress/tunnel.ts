import type { Duplex } from 'node:stream'
import { cut } from './cut.ts'
import type { Meter } from './fair-bandwidth.ts'
import type { EgressShare } from './shares.ts'

interface JoinOptions {
  readonly halfOpenMs: number
  /** Of the instance at `inside`. */
  readonly share: Pick<EgressShare, 'sent' | 'received'>
}

/**
 * Copies bytes in both directions until both have ended or one has failed, with backpressure.
 * A silent tunnel stays open. Once one side has ended, the other must send something within
 * `halfOpenMs`, because the first may be gone altogether.
 */
export function joinStreams(inside: Duplex, outside: Duplex, { halfOpenMs, share }: JoinOptions): void {
  let halfOpen: NodeJS.Timeout | undefined
  const destroyBoth = () => {
    clearTimeout(halfOpen)
    cut(inside)
    cut(outside)
  }
  const carry = (from: Duplex, to: Duplex, meter: Meter | undefined) => {
    let isFull = false
    let hasUsedUp = false
    const goOn = () => {
      if (!isFull && !hasUsedUp) from.resume()
    }
    const onTurn = () => {
      hasUsedUp = false
      goOn()
    }
    from.on('data', (chunk: Buffer) => {
      halfOpen?.refresh()
      isFull = !to.write(chunk)
      if (meter && !meter(chunk.length, onTurn)) hasUsedUp = true
      if (isFull || hasUsedUp) from.pause()
    })
    to.on('drain', () => {
      isFull = false
      goOn()
    })
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
  if (inside.destroyed || outside.destroyed) return destroyBoth()
  carry(inside, outside, share.sent)
  carry(outside, inside, share.received)
}
