import type { Readable } from 'node:stream'

const QUIET_MS = 200

/**
 * Resolves when everything that a program wrote has been read. Called when it has ended: its children may
 * live on and keep its pipes open, and are not waited for; what they write later is not of it.
 */
export async function outputEnd(streams: readonly Readable[]): Promise<void> {
  const open = streams.filter((stream) => !stream.readableEnded && !stream.destroyed)
  if (open.length === 0) return
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = open.length
  let hasMoved = false
  const onData = () => (hasMoved = true)
  const onClose = () => {
    left--
    if (left === 0) resolve()
  }
  // Only after all that was ready to be read meanwhile, in case we were kept from reading.
  const timer = setInterval(() => {
    setImmediate(() => {
      if (!hasMoved) resolve()
      hasMoved = false
    })
  }, QUIET_MS)
  for (const stream of open) stream.on('data', onData).once('close', onClose)
  await promise
  clearInterval(timer)
  for (const stream of open) stream.off('data', onData).off('close', onClose)
}
