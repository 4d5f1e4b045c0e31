// Routes of the live view besides its websocket: the page, its files and uploads. They are not in the contract, because
// only the page calls them.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import type { LiveViewMode } from '@berth/contracts/live-view'
import type { Session } from '../session/session.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { audiencesOf, LIVE_PATH } from '../session/target.ts'
import { admitFor, type AdmissionOptions } from '../gateway/upgrade.ts'
import { toAppError } from '../../http/errors.ts'
import { fileNames } from '../../http/page-files.ts'
import { clientGone } from '../../http/request-context.ts'
import { discardRest } from '../../http/rest-of-body.ts'
import { liveHtml, livePage, pageHeaders } from './page.ts'
import { upload } from './upload.ts'
import { checkTime, isOfLogin, isOnlyWatching, type Viewers } from './viewers.ts'

const MAX_UPLOADS = 32

export interface LiveOptions extends AdmissionOptions {
  readonly find: (id: string, leaseNumber: number) => Session | undefined | Promise<Session | undefined>
  readonly viewers: Viewers
  readonly originOf: (request: FastifyRequest) => string
  readonly maxUploadBytes: number
}

export function attachLive(server: FastifyInstance, options: LiveOptions): void {
  server.get(LIVE_PATH, { onRequest: named(LIVE_PATH) }, (request, reply) =>
    showPage(request, reply, options),
  )
  for (const name of fileNames) {
    const url = `${LIVE_PATH}/${name}`
    server.get(url, { onRequest: named(url) }, (request, reply) => livePage.send(name, request, reply))
  }
  // In its own scope, because all other routes refuse bodies that are not JSON.
  void server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    const uploads = new Uploads(options)
    const url = `${LIVE_PATH}/files`
    scope.post(
      url,
      {
        onRequest: named(url),
        bodyLimit: Number.MAX_SAFE_INTEGER,
        config: { isBodyStream: true },
      },
      (request, reply) => uploads.take(request, reply),
    )
    done()
  })
}

/** Names the route for log and metrics, which never contain the URL. */
const named = (url: string) => (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
  request.route = url
  done()
}

/** People always get the page, which shows the problem; other clients get the error. */
async function showPage(
  request: FastifyRequest,
  reply: FastifyReply,
  options: LiveOptions,
): Promise<FastifyReply> {
  const isForPerson = /\btext\/html\b/.test(request.headers.accept ?? '')
  let mode: LiveViewMode = 'read_only'
  let problem: AppError | undefined
  try {
    const { grant, session } = await admitted(request, options)
    if (!isOnlyWatching(grant)) mode = 'control'
    options.viewers.checkRoom(session.id)
  } catch (error) {
    problem = toAppError(error)
    if (!problem || !isForPerson) throw error
  }
  return reply
    .code(problem?.status ?? 200)
    .headers(pageHeaders(options.originOf(request)))
    .type('text/html; charset=utf-8')
    .send(await liveHtml({ mode, problem: problem?.code }))
}

async function admitted(request: FastifyRequest, options: LiveOptions) {
  const grant = await admitFor(request.raw, options, audiencesOf.live)
  checkTime(grant)
  const session = await options.find(grant.sessionId, grant.leaseNumber)
  if (!session || session.ending.aborted) {
    throw new AppError('not_found', 'Cannot watch: the session has ended')
  }
  return { grant, session }
}

class Uploads {
  readonly #options: LiveOptions
  #count = 0

  constructor(options: LiveOptions) {
    this.#options = options
  }

  async take(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    try {
      const { grant, session } = await admitted(request, this.#options)
      if (isOfLogin(grant)) {
        throw new AppError('forbidden', 'Cannot upload: this link is for one login')
      }
      if (isOnlyWatching(grant)) {
        throw new AppError('forbidden', 'Cannot upload: this link is for watching only')
      }
      if (this.#count >= MAX_UPLOADS) {
        throw new AppError('too_many_requests', `Cannot upload: ${MAX_UPLOADS} uploads are under way`, {
          headers: { 'retry-after': '1' },
        })
      }
      this.#count++
      try {
        const path = await this.#pass(request, reply, { session, name: grant.query.get('name') ?? '' })
        return await reply.code(201).header('cache-control', 'no-store').send({ path })
      } finally {
        this.#count--
      }
    } finally {
      discardRest(request.raw)
    }
  }

  async #pass(
    request: FastifyRequest,
    reply: FastifyReply,
    { session, name }: { session: Session; name: string },
  ): Promise<string> {
    const { 'content-length': length } = request.headers
    return upload({
      session,
      name,
      stream: {
        // An empty body is an empty file.
        body: request.body instanceof Readable ? request.body : Readable.from([]),
        headers: length === undefined ? {} : { 'content-length': length },
      },
      maxBytes: this.#options.maxUploadBytes,
      signal: clientGone(reply),
    })
  }
}
