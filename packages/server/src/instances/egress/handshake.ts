// Reads a proxy's answer and not one byte more: the bytes after it come from the target.
import type { Duplex } from 'node:stream'
import { ProxyFailure } from './proxy-failure.ts'

export function readExactly(stream: Duplex, length: number, signal: AbortSignal): Promise<Buffer> {
  return readSome(stream, (received) => (received.length >= length ? length : undefined), {
    maxBytes: length,
    signal,
  })
}

/** Includes the mark. */
export function readThrough(
  stream: Duplex,
  mark: string,
  options: { maxBytes: number; signal: AbortSignal },
): Promise<Buffer> {
  return readSome(
    stream,
    (received) => {
      const at = received.indexOf(mark)
      return at < 0 ? undefined : at + mark.length
    },
    options,
  )
}

async function readSome(
  stream: Duplex,
  lengthIn: (received: Buffer) => number | undefined,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Buffer> {
  let received: Buffer = Buffer.alloc(0)
  for (;;) {
    signal.throwIfAborted()
    const chunk = stream.read() as Buffer | null
    if (chunk === null) {
      await untilReadable(stream, signal)
      continue
    }
    received = Buffer.concat([received, chunk])
    const length = lengthIn(received)
    if (length !== undefined && length <= maxBytes) {
      if (length < received.length) stream.unshift(received.subarray(length))
      return received.subarray(0, length)
    }
    if (received.length >= maxBytes) throw new ProxyFailure('answered more than it should')
  }
}

function untilReadable(stream: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      stream.off('readable', onReadable)
      stream.off('end', onEnd)
      stream.off('close', onEnd)
      signal.removeEventListener('abort', onAbort)
      if (error) reject(error)
      else resolve()
    }
    const onReadable = () => settle()
    const onEnd = () => settle(new ProxyFailure('broke off the connection'))
    const onAbort = () => settle(signal.reason as Error)
    if (stream.readableEnded || stream.destroyed) return onEnd()
    stream.on('readable', onReadable)
    stream.once('end', onEnd)
    stream.once('close', onEnd)
    signal.addEventListener('abort', onAbort)
  })
}
