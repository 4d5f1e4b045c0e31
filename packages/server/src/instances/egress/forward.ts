// Forwards one plain HTTP request over its own connection. Bodies stream in both directions with
// backpressure. Redirects are passed on like any answer; their target is checked when the browser
// requests it.
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Transform, type Readable } from 'node:stream'
import type { Meter } from './fair-bandwidth.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import { EgressRefusal, toRefusal } from './refusal.ts'
import type { EgressShare } from './shares.ts'
import { hostHeader, type HttpTarget } from './target.ts'
import type { RequestConnection } from './upstream.ts'

/** The most that Chromium accepts. */
const MAX_ANSWER_HEADER_BYTES = 256 * 1024

export interface ForwardOptions {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly target: HttpTarget
  readonly connection: RequestConnection
  /** How long the other side may take to answer after it has the whole request. */
  readonly answerMs: number
  readonly share: Pick<EgressShare, 'sent' | 'received'>
}

/** Refuses requests that cannot be forwarded correctly. */
export function checkForwardable({ headers }: IncomingMessage): void {
  if (/websocket/i.test(headers.upgrade ?? '')) {
    throw new EgressRefusal('bad_request', 'Cannot forward a websocket as a plain request: use CONNECT')
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new EgressRefusal('bad_request', 'Cannot forward the body: its only transfer coding may be chunked')
  }
}

/** Resolves when the answer was sent or broke off; rejects while an error answer can still be sent. */
export function forward(options: ForwardOptions): Promise<void> {
  const { request, response, target, answerMs, share } = options
  const { stream, proxy } = options.connection
  let thinking: NodeJS.Timeout | undefined

  return new Promise<void>((resolve, reject) => {
    const sent = httpRequest({
      createConnection: () => stream,
      method: request.method ?? 'GET',
      path: proxy ? `http://${hostHeader(target)}${target.path}` : target.path,
      headers: [...requestHeaders(request, target), ...credentialsFor(proxy)],
      maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
    })
    const fail = (error: unknown) => {
      // Once the answer has begun, its own end shows whether it was complete.
      if (response.headersSent) return
      sent.destroy()
      reject(toRefusal(error, target.host))
    }
    // The stream may have been cut before anyone listened; a request on it would wait forever.
    if (stream.destroyed) return fail(new Error('cut off'))
    sent.once('finish', () => {
      thinking = setTimeout(() => {
        fail(new EgressRefusal('egress_timeout', `Cannot get an answer from "${target.host}" in time`))
      }, answerMs)
    })
    sent.once('response', (answer) => {
      clearTimeout(thinking)
      // The browser has no credentials for the proxy and must not be asked for them.
      if (proxy && answer.statusCode === 407) {
        const message = `Cannot reach "${target.host}": the proxy of the session refuses its credentials`
        const proxyError = proxy.isOperators ? 'provider_unreachable' : 'proxy_unavailable'
        return fail(new EgressRefusal('egress_failed', message, { proxyError }))
      }
      // Prevents an uncaught error; the end of the answer shows what happened.
      answer.on('error', () => undefined)
      try {
        response.sendDate = false
        response.writeHead(answer.statusCode ?? 0, answer.statusMessage ?? '', responseHeaders(answer))
      } catch (error) {
        return fail(error)
      }
      metered(answer, share.received).pipe(response)
      answer.once('close', () => {
        if (!answer.complete) response.destroy()
      })
    })
    sent.on('error', fail)
    // Also without an error, for example when the other side upgrades the connection unasked.
    sent.once('close', () => fail(new Error('closed without an answer')))
    response.once('close', () => {
      clearTimeout(thinking)
      sent.destroy()
      stream.destroy()
      resolve()
    })
    metered(request, share.sent).pipe(sent)
  }).finally(() => clearTimeout(thinking))
}

/** The same bytes, at the pace of the project's share. */
function metered(source: Readable, meter: Meter | undefined): Readable {
  if (!meter) return source
  const paced = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      const pass = () => done(null, chunk)
      if (meter(chunk.length, pass)) pass()
    },
  })
  source.once('close', () => {
    if (!source.readableEnded) paced.destroy()
  })
  return source.pipe(paced)
}

function credentialsFor(proxy: RequestConnection['proxy']): string[] {
  return proxy?.authorization === undefined ? [] : ['Proxy-Authorization', proxy.authorization]
}
