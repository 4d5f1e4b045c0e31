// Limits how long a request may take to send its body. Node has one limit for all requests, from the first
// byte to the last; here, a file may take any time as long as it makes progress.
import type { FastifyRequest } from 'fastify'
import type { Socket } from 'node:net'

const BODY_TIMEOUT_MS = 60_000
const SWEEP_MS = 5_000

interface Watched {
  readonly isStream: boolean
  deadline: number
  bytesRead: number
}

export class SlowBodies {
  readonly #onSlow: (socket: Socket) => void
  readonly #watched = new Map<FastifyRequest, Watched>()
  readonly #timer: NodeJS.Timeout

  constructor({ onSlow }: { onSlow: (socket: Socket) => void }) {
    this.#onSlow = onSlow
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS)
    this.#timer.unref()
  }

  /** A stream's time limit starts again with every byte; that of other bodies starts with the first. */
  watch(request: FastifyRequest, { isStream }: { isStream: boolean }): void {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    if (encoding === undefined && (length === undefined || length === '0')) return
    const { bytesRead } = request.raw.socket
    this.#watched.set(request, { isStream, deadline: performance.now() + BODY_TIMEOUT_MS, bytesRead })
  }

  forget(request: FastifyRequest): void {
    this.#watched.delete(request)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #sweep(): void {
    const now = performance.now()
    for (const [request, watched] of this.#watched) {
      const { complete, socket } = request.raw
      if (complete || socket.destroyed) this.#watched.delete(request)
      else if (watched.isStream && this.#hasMoved(socket, watched)) watched.deadline = now + BODY_TIMEOUT_MS
      else if (now > watched.deadline) {
        this.#watched.delete(request)
        this.#onSlow(socket)
      }
    }
  }

  /** A body is not slow while we hold it up because its consumer is slow. */
  #hasMoved(socket: Socket, watched: Watched): boolean {
    const hasMoved = socket.bytesRead > watched.bytesRead || socket.isPaused()
    watched.bytesRead = socket.bytesRead
    return hasMoved
  }
}
