// The HTTP server: its limits, and the hooks for every request.
import type { IncomingMessage } from 'node:http'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { randomText } from '@berth/kit/ids'
import type { Config } from '../config/config.ts'
import { AppError } from '../platform/errors/app-error.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import { Connections } from './connections.ts'
import { auditRecord } from './audit-hook.ts'
import type { RequestAudit } from './request-audit.ts'
import { answerError } from './errors.ts'
import { newHostCheck } from './host-check.ts'
import { excessOf } from './nesting.ts'
import { answerProtocolError, TIMED_OUT } from './protocol-errors.ts'
import { statusSeen } from './request-context.ts'
import { SlowBodies } from './slow-bodies.ts'
import { compileSerializerLater } from './serialization.ts'
import { compileValidator, refusalOf } from './validation.ts'

const MAX_BODY_BYTES = 1024 * 1024
/** More than any request needs: a policy with a list of 100,000 sites. */
const JSON_LIMITS = { maxLevels: 200, maxValues: 200_000 }
// Checks for slow senders this often, so that one is cut off soon after its time limit.
const LISTENER = {
  headersTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  // The host check answers a missing header with our own error body.
  requireHostHeader: false,
}
// Longer than the idle timeout of common load balancers, so that they close first.
const KEEP_ALIVE_MS = 75_000

export interface ServerOptions {
  readonly config: Config
  readonly log: Logger
  readonly audit: RequestAudit
  readonly metrics: Metrics
  readonly isDraining: () => boolean
  /** Decides which upgrade requests are upgraded; the others become plain requests. */
  readonly shouldUpgrade: (request: IncomingMessage) => boolean
}

export interface HttpServer {
  readonly fastify: FastifyInstance
  readonly connections: Connections
}

export function newServer({
  config,
  log,
  audit,
  metrics,
  isDraining,
  shouldUpgrade,
}: ServerOptions): HttpServer {
  // One logger for all requests, because our log lines name the request. It is typed as Fastify's
  // logger; otherwise Fastify's own types would become pino's.
  const loggerInstance: FastifyBaseLogger = Object.assign(Object.create(log) as Logger, {
    child: () => loggerInstance,
  })
  const server = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    // See slow-bodies.ts.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    trustProxy: config.BERTH_TRUSTED_PROXIES.length > 0 ? [...config.BERTH_TRUSTED_PROXIES] : false,
    genReqId: newRequestId,
    requestIdHeader: false,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    clientErrorHandler: answerProtocolError,
    frameworkErrors: (error, request, reply) => answerError(error, request, reply),
    schemaController: { compilersFactory: { buildSerializer: compileSerializerLater } },
    ...listenerOptions(config, shouldUpgrade),
  })
  server.setValidatorCompiler(compileValidator)
  server.setSchemaErrorFormatter(refusalOf)
  server.setErrorHandler(answerError)
  server.decorateRequest('context', null)
  server.decorateRequest('route', 'none')
  server.decorateRequest('place', null)
  server.decorateRequest('isHandling', false)
  server.decorateRequest('whenOver', (request, reply) => {
    const status = statusSeen(reply)
    const { context, method, route } = request
    connections.requestEnded(request.raw.socket)
    request.place?.[Symbol.dispose]()
    slowBodies.forget(request)
    metrics.requestDurations.observe({ method, route, status }, reply.elapsedTime)
    if (context && !context.isAudited) audit.record(auditRecord(request, context, status))
    // Logs changes and faults; the audit log has everything else.
    const isQuiet = status >= 400 ? status < 500 : method === 'GET'
    if (isQuiet && !log.isLevelEnabled('debug')) return
    log[isQuiet ? 'debug' : 'info'](
      {
        requestId: request.id,
        method,
        route,
        status,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        keyId: context?.principal.keyId,
      },
      'request',
    )
  })
  acceptJson(server)
  // We ignore an unknown Expect header; Node would answer with an empty 417.
  server.server.on('checkExpectation', (request, response) =>
    server.server.emit('request', request, response),
  )
  const checkHost = newHostCheck(config)
  const connections = new Connections(server.server)
  const slowBodies = new SlowBodies({
    onSlow: (socket) => answerProtocolError(Object.assign(new Error(), { code: TIMED_OUT }), socket),
  })
  server.addHook('onClose', (_instance, done) => {
    slowBodies.close()
    done()
  })

  server.addHook('onRequest', (request, reply, done) => {
    connections.requestStarted(request.raw.socket)
    slowBodies.watch(request, { isStream: request.routeOptions.config.isBodyStream ?? false })
    // Not the onResponse hook: Fastify does not call it when the client leaves before the answer.
    reply.raw.on('close', () => {
      if (!request.isHandling) request.whenOver(request, reply)
    })
    reply.header('x-request-id', request.id)
    if (isDraining()) reply.header('connection', 'close')
    try {
      checkHost(oneHost(request.raw.rawHeaders))
      // A target in absolute form overrides the Host header, so it is checked too.
      if (!request.raw.url!.startsWith('/')) checkHost(URL.parse(request.raw.url!)?.host)
    } catch (error) {
      return done(error as Error)
    }
    done()
  })

  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]!
    const others = METHODS.filter((method) => server.findRoute({ method, url: path }) !== null)
    const error =
      others.length > 0
        ? new AppError('method_not_allowed', `Cannot ${request.method} here`, {
            headers: { allow: others.join(', ') },
          })
        : new AppError('not_found', `Cannot find ${request.method} ${path.slice(0, 200)}`)
    answerError(error, request, reply)
  })
  return { fastify: server, connections }
}

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const

let requestCount = 0
const requestPrefix = `req_${randomText(12)}`
function newRequestId(): string {
  return `${requestPrefix}${(requestCount++).toString(36).padStart(6, '0')}`
}

/** Node joins or drops repeated headers; a second Host header is a way to smuggle requests. */
function oneHost(rawHeaders: string[]): string | undefined {
  let host: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) throw new AppError('bad_request', 'Cannot accept two Host headers')
    host = rawHeaders[index + 1]
  }
  return host
}

const tooMuch = (excess: 'levels' | 'values') =>
  new AppError(
    'bad_request',
    excess === 'levels'
      ? `Cannot read the request: it is nested deeper than ${JSON_LIMITS.maxLevels} levels`
      : `Cannot read the request: it has more than ${JSON_LIMITS.maxValues} values; send less at once`,
  )

const notUtf8 = () =>
  new AppError('bad_request', 'Cannot read the request: the body is not UTF-8; encode it as UTF-8')

/** A byte that is not UTF-8 was decoded to a replacement character, which has another length. */
function isNotUtf8(body: string, contentLength: string | undefined): boolean {
  return (
    body.includes('\u{fffd}') &&
    contentLength !== undefined &&
    Number(contentLength) !== Buffer.byteLength(body)
  )
}

/** Accepts only JSON. An empty body counts as no body, because clients send the content type anyway. */
function acceptJson(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    if (isNotUtf8(body as string, request.headers['content-length'])) return done(notUtf8())
    const excess = excessOf(body as string, JSON_LIMITS)
    if (excess) return done(tooMuch(excess))
    void parse(request, body as string, done)
  })
}

function listenerOptions(config: Config, shouldUpgradeCallback: ServerOptions['shouldUpgrade']): object {
  const { BERTH_TLS_CERT: cert, BERTH_TLS_KEY: key } = config
  const listener = { ...LISTENER, shouldUpgradeCallback }
  if (!cert || !key) return { http: listener }
  return { https: { ...listener, cert, key, minVersion: 'TLSv1.2' } }
}
