// Requests of this process to its own API. They come from the address of whoever asked, name the same host and carry the
// same proxy headers, so that limits, audit and addresses in answers are those of the caller.
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { duplexPair, Readable, type Duplex } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** What tells the server how the caller reached it; trusted as far as it was for the caller. */
const PASSED_ON = [
  'host',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'forwarded',
]

export type OwnFetch = typeof fetch

export function fetchFor({ server }: Pick<FastifyInstance, 'server'>, asker: FastifyRequest): OwnFetch {
  const { headers: asked } = asker.raw
  const passed = Object.fromEntries(
    PASSED_ON.flatMap((name) => (asked[name] === undefined ? [] : [[name, asked[name]]])),
  ) as IncomingHttpHeaders
  return async (input, init) => {
    const request = new Request(input, init)
    const { signal } = request
    signal.throwIfAborted()
    const { pathname, search } = new URL(request.url)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const outgoing = httpRequest({
      createConnection: () => connect(server, asker),
      method: request.method,
      path: pathname + search,
      headers: { ...Object.fromEntries(request.headers), ...passed },
    })
    const stop = () => outgoing.destroy(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    outgoing.once('close', () => signal.removeEventListener('abort', stop))
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    if (request.body === null) outgoing.end()
    else
      Readable.fromWeb(request.body as never)
        .on('error', (error) => outgoing.destroy(error))
        .pipe(outgoing)
    return toResponse(await promise)
  }
}

/** A connection that never leaves the process. Each request has its own. */
function connect(server: FastifyInstance['server'], { raw }: FastifyRequest): Duplex {
  const [ours, theirs] = duplexPair()
  const { remoteAddress, remotePort, remoteFamily } = raw.socket
  Object.assign(theirs, {
    remoteAddress,
    remotePort,
    remoteFamily,
    encrypted: 'encrypted' in raw.socket,
    setKeepAlive: () => theirs,
    setNoDelay: () => theirs,
    setTimeout: () => theirs,
  })
  // Plain HTTP even if the listener speaks TLS: the same handler serves both.
  server.emit('setSecureContext' in server ? 'secureConnection' : 'connection', theirs)
  return ours
}

const WITHOUT_BODY = new Set([101, 204, 205, 304])

function toResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 500, rawHeaders } = incoming
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index]!, rawHeaders[index + 1]!)
  }
  if (WITHOUT_BODY.has(status)) {
    incoming.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(incoming), { status, headers })
}
