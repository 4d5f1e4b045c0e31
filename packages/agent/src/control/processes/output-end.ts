import type { Readable } from 'node:stream'

const QUIET_MS = 200

/**
 * Resolves when all output of an ended program has been read. Its children may live on and keep its pipes
 * open; they are not waited for, and their later output does not count.
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
  // Waits until no data is ready to be read, in case the agent was too busy to read.
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
