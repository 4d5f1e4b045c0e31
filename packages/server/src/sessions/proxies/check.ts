// Checks a proxy with one request through it, to a URL that answers with the caller's address.
import { request, type IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { hostHeader, readConnectTarget, type Target } from '../../instances/egress/target.ts'
import type { RequestConnection, Upstream } from '../../instances/egress/upstream.ts'
import type { CheckResult } from './types.ts'

const CHECK_MS = 15_000
/** Enough for an address, but not for a page. */
const MAX_ANSWER_BYTES = 4096

/** The first URL that answers decides. Errors are not reported, because the caller only needs to know whether it works. */
export async function checkThrough(
  upstream: Upstream,
  urls: readonly URL[],
  signal: AbortSignal,
): Promise<CheckResult> {
  for (const url of urls) {
    try {
      const answer = await ask(upstream, url, AbortSignal.any([signal, AbortSignal.timeout(CHECK_MS)]))
      const isServed = answer.status < 500 && answer.status !== 407
      if (isServed)
        return { status: 'available', ipAddress: isIP(answer.text) === 0 ? undefined : answer.text }
    } catch {
      // Stop when the caller has left, so that no result is stored.
      signal.throwIfAborted()
    }
  }
  return { status: 'unavailable', ipAddress: undefined }
}

async function ask(
  upstream: Upstream,
  url: URL,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  const isSecure = url.protocol === 'https:'
  const target = targetOf(url)
  const connection = isSecure
    ? { stream: await upstream.connect(target, signal) }
    : await upstream.connectForRequest(target, signal)
  connection.stream.on('error', () => {})
  const cut = () => connection.stream.destroy()
  signal.addEventListener('abort', cut)
  try {
    signal.throwIfAborted()
    const answer = await send(connection, { url, target, isSecure })
    return { status: answer.statusCode ?? 0, text: await readText(answer) }
  } finally {
    signal.removeEventListener('abort', cut)
    cut()
  }
}

export function targetOf(url: URL): Target {
  return readConnectTarget(`${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`)
}

function send(
  { stream, proxy }: RequestConnection,
  { url, target, isSecure }: { url: URL; target: Target; isSecure: boolean },
): Promise<IncomingMessage> {
  const path = url.pathname + url.search
  return new Promise((resolve, reject) => {
    const sent = request({
      createConnection: () => (isSecure ? overTls(stream, target) : stream),
      path: proxy ? `http://${hostHeader(target)}${path}` : path,
      headers: {
        host: url.host,
        accept: 'text/plain',
        'user-agent': 'Berth',
        ...(proxy?.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
      },
      maxHeaderSize: 16 * 1024,
    })
    sent.once('response', resolve)
    sent.on('error', reject)
    sent.once('close', () => reject(new Error('closed without an answer')))
    sent.end()
  })
}

function overTls(socket: Duplex, { host }: Target): Duplex {
  return connect({ socket, host, ...(isIP(host) === 0 && { servername: host }), ALPNProtocols: ['http/1.1'] })
}

/** Longer than any IP address, so not one. */
async function readText(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1')
    if (text.length > MAX_ANSWER_BYTES) return ''
  }
  return text.trim()
}
