// A stream can outlive its key. When a key is deleted, expires, or its project is archived, or a person signs out, its streams end: at once
// when the change is announced, or within seconds when the announcement is missed.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { credentialOf, type Credential, type IsOwnOrigin } from './credential.ts'
import type { Authenticator } from './principal.ts'

const LOOK_EVERY_MS = 3_000
/** Finds clients that vanished: TCP probes after this long, then ten more, one a second. */
const KEEP_ALIVE_MS = 15_000

interface OpenStream {
  readonly credential: Credential
  readonly reply: FastifyReply
}

export class OpenStreams {
  readonly #authenticator: Authenticator
  readonly #isOwn: IsOwnOrigin
  readonly #streams = new Set<OpenStream>()
  #timer: NodeJS.Timeout | undefined

  constructor(authenticator: Authenticator, isOwn: IsOwnOrigin) {
    this.#authenticator = authenticator
    this.#isOwn = isOwn
  }

  watch(request: FastifyRequest, reply: FastifyReply): void {
    request.raw.socket.setKeepAlive(true, KEEP_ALIVE_MS)
    // A session's token is valid until the session ends.
    const strategy = request.context?.authStrategy
    if ((strategy !== 'api_key' && strategy !== 'sign_in') || reply.raw.closed) return
    const stream = { credential: credentialOf(request.raw, this.#isOwn), reply }
    this.#streams.add(stream)
    this.#timer ??= setInterval(() => this.check(), LOOK_EVERY_MS).unref()
    reply.raw.once('close', () => {
      this.#streams.delete(stream)
      if (this.#streams.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    })
  }

  /** Call it when keys changed or may have changed. */
  check(): void {
    for (const stream of this.#streams) void this.#check(stream)
  }

  async #check({ credential, reply }: OpenStream): Promise<void> {
    try {
      const principal = await this.#authenticator.authenticate(credential)
      if (!principal || principal.isProjectArchived) reply.raw.destroy()
    } catch {
      // The database is not reachable; the next check asks again.
    }
  }
}
