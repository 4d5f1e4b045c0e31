import { WrongArchive } from './archive.ts'

/** The first bytes may take longer: the disk and the network get going. */
const USUAL_GRACE_MS = 30_000
const USUAL_MIN_BYTES_PER_SECOND = 64 * 1024
const CHECKS_PER_GRACE = 10

export interface PaceOptions {
  readonly onSlow: (error: Error) => void
  readonly graceMs?: number
  readonly minBytesPerSecond?: number
}

/** Passes the bytes on, and reports once when they arrive too slowly on average. */
export async function* checkPace(
  source: AsyncIterable<Buffer>,
  { onSlow, graceMs = USUAL_GRACE_MS, minBytesPerSecond = USUAL_MIN_BYTES_PER_SECOND }: PaceOptions,
): AsyncGenerator<Buffer> {
  const startedAt = performance.now()
  let bytes = 0
  const timer = setInterval(() => {
    const allowedMs = graceMs + (bytes / minBytesPerSecond) * 1000
    if (performance.now() - startedAt <= allowedMs) return
    clearInterval(timer)
    const rate = `${minBytesPerSecond / 1024} KiB`
    onSlow(
      new WrongArchive(
        `body: a compressed archive must arrive at ${rate} a second or more; send it from a faster network, or send the tar uncompressed`,
      ),
    )
  }, graceMs / CHECKS_PER_GRACE)
  timer.unref()
  try {
    for await (const piece of source) {
      bytes += piece.length
      yield piece
    }
  } finally {
    clearInterval(timer)
  }
}
