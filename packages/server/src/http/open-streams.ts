// Streams outlive the moment their caller was let in. A key that is deleted, or whose project is archived, ends those it
// opened: at once when it is announced, and within seconds when the announcement is missed or the key expires.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bearerToken } from './bearer.ts'
import type { Authenticator } from './principal.ts'

const LOOK_EVERY_MS = 3_000
/** Finds clients that vanished: a probe after this long, and ten more a second apart. */
const KEEP_ALIVE_MS = 15_000

interface OpenStream {
  readonly key: string
  readonly reply: FastifyReply
}

export class OpenStreams {
  readonly #authenticator: Authenticator
  readonly #streams = new Set<OpenStream>()
  #timer: NodeJS.Timeout | undefined

  constructor(authenticator: Authenticator) {
    this.#authenticator = authenticator
  }

  watch(request: FastifyRequest, reply: FastifyReply): void {
    request.raw.socket.setKeepAlive(true, KEEP_ALIVE_MS)
    // The token of a session ends with the session.
    if (request.context?.authStrategy !== 'api_key' || reply.raw.closed) return
    const stream = { key: bearerToken(request.raw), reply }
    this.#streams.add(stream)
    this.#timer ??= setInterval(() => this.check(), LOOK_EVERY_MS).unref()
    reply.raw.once('close', () => {
      this.#streams.delete(stream)
      if (this.#streams.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    })
  }

  /** Something about keys changed, or may have. */
  check(): void {
    for (const stream of this.#streams) void this.#check(stream)
  }

  async #check({ key, reply }: OpenStream): Promise<void> {
    try {
      const principal = await this.#authenticator.authenticate(key)
      if (!principal || principal.isProjectArchived) reply.raw.destroy()
    } catch {
      // The database is away: it is asked again.
    }
  }
}
