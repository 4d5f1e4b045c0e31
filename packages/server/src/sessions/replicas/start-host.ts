// Starts sessions for other servers that have no room. The settings of this server bound them like its own: they wait in
// its start queue, and count in its room and under the caps.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { joinSignals } from '@berth/kit/abort'
import { createBrowser } from '@berth/contracts/browsers'
import { bearerToken } from '../../http/bearer.ts'
import { toAppError } from '../../http/errors.ts'
import { isInside } from '../../http/inside.ts'
import { clientGone } from '../../http/request-context.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Asker, WantedSession } from '../browsers/room-elsewhere.ts'
import { LEEWAY_SECONDS, type SessionTokens, type Verification } from '../gateway/tokens.ts'
import {
  ALIVE_EVERY_MS,
  digestOf,
  fromContentDigest,
  START_PATH,
  startAudience,
  toFailure,
  type StartNews,
} from './start-request.ts'

/** The asker has only to commit. One that takes longer hangs, or cannot be heard. */
const RELEASE_TIMEOUT_MS = 30_000
/** A request to create a session, and who asks for it. */
const MAX_BODY_BYTES = createBrowser.maxBodyBytes + 64 * 1024

export interface StartHostOptions {
  readonly serverId: string
  readonly tokens: Pick<SessionTokens, 'verify'>
  readonly startFor: (asker: Asker, wanted: WantedSession & { id: string }) => Promise<void>
  readonly log: Logger
}

export class StartHost {
  readonly #options: StartHostOptions
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()
  /** Session ids of tokens that were used, until they expire. */
  readonly #used = new Map<string, number>()

  constructor(options: StartHostOptions) {
    this.#options = options
  }

  attach(server: FastifyInstance): void {
    // In a scope of its own: the digest is that of the bytes, so the body is not parsed before it is compared.
    void server.register((scope, _options, done) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, parsed) =>
        parsed(null, body),
      )
      scope.post(
        START_PATH,
        {
          bodyLimit: MAX_BODY_BYTES,
          // Before the body is read.
          onRequest: async (request) => {
            request.route = START_PATH
            await this.#admit(request)
          },
        },
        (request, reply) => this.#take(request, reply),
      )
      done()
    })
  }

  /** Resolves when what it started for others is decided. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#running)
  }

  async #admit(request: FastifyRequest): Promise<Verification & { digest: string }> {
    // As if there were nothing: sessions have no business here, whatever they know.
    if (isInside(request.raw.socket)) {
      throw new AppError('not_found', `Cannot find ${request.method} ${START_PATH}`)
    }
    const { serverId, tokens } = this.#options
    const digest = fromContentDigest(request.headers['content-digest']) ?? ''
    return { ...(await tokens.verify(bearerToken(request.raw), startAudience(serverId, digest))), digest }
  }

  async #take(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { sessionId, expiresAt, digest } = await this.#admit(request)
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    if (digestOf(body) !== digest) {
      throw new AppError('unauthorized', 'Cannot start a session: the token is for another request')
    }
    this.#useOnce(sessionId, expiresAt)
    // SAFETY: another server has checked and signed it.
    const wanted = JSON.parse(body.toString()) as WantedSession & { id: string }
    if (wanted.id !== sessionId) {
      throw new AppError('bad_request', 'Cannot start a session: the token is for another one')
    }
    reply.hijack()
    const running = this.#start(wanted, reply).finally(() => this.#running.delete(running))
    this.#running.add(running)
    await running
  }

  #useOnce(sessionId: string, expiresAt: number): void {
    if (this.#closing.signal.aborted) {
      throw new AppError('unavailable', 'Cannot start a session: the server is stopping')
    }
    const now = Date.now()
    for (const [id, until] of this.#used) if (until < now) this.#used.delete(id)
    if (this.#used.has(sessionId)) {
      throw new AppError('conflict', 'Cannot start a session: the token has been used')
    }
    this.#used.set(sessionId, expiresAt + LEEWAY_SECONDS * 1000)
  }

  /** Never rejects: the answer has begun. */
  async #start(wanted: WantedSession & { id: string }, reply: FastifyReply): Promise<void> {
    const { raw } = reply
    const left = clientGone(reply)
    const tell = (news: StartNews) => void raw.write(`${JSON.stringify(news)}\n`)
    raw.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
    raw.write('\n')
    const alive = setInterval(() => raw.write('\n'), ALIVE_EVERY_MS)
    const asker: Asker = {
      left,
      closing: this.#closing.signal,
      released: async () => {
        tell({ started: true })
        using waiting = joinSignals(left, this.#closing.signal, AbortSignal.timeout(RELEASE_TIMEOUT_MS))
        if (waiting.signal.aborted) return
        await new Promise<void>((resolve) => {
          waiting.signal.addEventListener('abort', () => resolve(), { once: true })
        })
      },
    }
    try {
      await this.#options.startFor(asker, wanted)
    } catch (error) {
      const known = toAppError(error)
      if (!left.aborted) {
        const { log } = this.#options
        log[known ? 'info' : 'error'](
          { err: error, sessionId: wanted.id },
          'cannot start a session for another server',
        )
      }
      const shown = known ?? new AppError('internal_error', 'Cannot create a session: an internal error')
      tell({ failed: toFailure(shown) })
    } finally {
      clearInterval(alive)
      raw.end()
    }
  }
}
