// The header that says what kind of failure an answer of egress is.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { ProxyErrorCode } from '@berth/contracts/telemetry-events'
import { ask, openSocket, readUntil, startProxy, startServer } from '../../../../../tests/fixtures/egress.ts'
import type { EgressRoute } from './route.ts'

const HEADER = 'x-kernel-proxy-error'

const lookup = (name: string): Promise<string[]> =>
  name === 'slow.example' ? new Promise(() => {}) : Promise.reject(new Error('no such name'))

function through(protocol: 'http' | 'socks5', port: number, isOperators: boolean): EgressRoute {
  return { kind: 'proxy', proxy: { protocol, host: '127.0.0.1', port, isOperators }, bypassHosts: [] }
}

/** Of the answer to CONNECT. */
async function tunnelError(t: TestContext, path: string): Promise<string | undefined> {
  const socket = await openSocket(t, path)
  socket.write('CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n')
  const head = await readUntil(socket, '\r\n\r\n')
  return /x-kernel-proxy-error: (\w+)/i.exec(head)?.[1]
}

test('a destination that cannot be reached directly', async (t) => {
  const gone = await startServer(t, (socket) => socket.destroy(), { address: '127.0.0.2' })
  const { path } = await startProxy(t, { allow: ['127.0.0.3/32'], direct: { lookup, lookupMs: 20 } })
  const cases: [url: string, status: number, code: ProxyErrorCode | undefined][] = [
    ['http://10.0.0.1/', 403, 'destination_blocked'],
    ['http://absent.example/', 502, 'upstream_dns_failure'],
    ['http://slow.example/', 504, 'upstream_dns_failure'],
    [`http://127.0.0.3:${gone.port}/`, 502, 'upstream_connect_failed'],
    ['http://bad host/', 400, undefined],
  ]
  for (const [url, status, code] of cases) {
    const answer = await ask(path, url.replace(' ', '%00'))
    assert.deepEqual([answer.status, answer.headers[HEADER]], [status, code], url)
  }
})

test('what an HTTP proxy answers, of the caller and of the operator', async (t) => {
  let answer = ''
  const proxy = await startServer(t, (socket) => void socket.once('data', () => socket.end(answer)))
  const allow = ['127.0.0.0/8']
  const cases: [answer: string, custom: ProxyErrorCode, operators: ProxyErrorCode][] = [
    ['HTTP/1.1 403 Forbidden\r\n\r\n', 'destination_blocked', 'provider_blacklisted'],
    ['HTTP/1.1 502 Bad Gateway\r\n\r\n', 'upstream_connect_failed', 'upstream_connect_failed'],
    ['HTTP/1.1 504 Gateway Timeout\r\n\r\n', 'upstream_timeout', 'upstream_timeout'],
    ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'proxy_unavailable', 'provider_unreachable'],
    ['SSH-2.0-OpenSSH\r\n\r\n', 'proxy_unavailable', 'provider_unreachable'],
    ['', 'proxy_unavailable', 'provider_unreachable'],
  ]
  for (const isOperators of [false, true]) {
    const { path } = await startProxy(t, { allow, route: through('http', proxy.port, isOperators) })
    for (const [text, custom, operators] of cases) {
      answer = text
      assert.equal(await tunnelError(t, path), isOperators ? operators : custom, text)
    }
    answer = 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n'
    const { status, headers } = await ask(path, 'http://a.example/')
    assert.deepEqual(
      [status, headers[HEADER]],
      [502, isOperators ? 'provider_unreachable' : 'proxy_unavailable'],
    )
  }
})

test('what a SOCKS proxy answers', async (t) => {
  let reply = 0
  const proxy = await startServer(t, (socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]))
      socket.once('data', () => socket.end(Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])))
    })
  })
  const { path } = await startProxy(t, {
    allow: ['127.0.0.0/8'],
    route: through('socks5', proxy.port, false),
  })
  const cases: [reply: number, code: ProxyErrorCode][] = [
    [1, 'proxy_unavailable'],
    [2, 'destination_blocked'],
    [4, 'upstream_connect_failed'],
    [6, 'upstream_timeout'],
  ]
  for (const [each, code] of cases) {
    reply = each
    assert.equal((await ask(path, 'http://a.example/')).headers[HEADER], code, String(each))
  }
})

test('no website can send the header through a forwarded request', async (t) => {
  const site = createHttpServer((_request, response) => {
    response.writeHead(502, { 'X-Kernel-Proxy-Error': 'proxy_unavailable', 'X-Other': 'stays' }).end('site')
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.after(() => void site.close())
  const { port } = site.address() as AddressInfo
  const { path } = await startProxy(t, { allow: ['127.0.0.0/8'] })
  const { status, headers, body } = await ask(path, `http://127.0.0.1:${port}/`)
  assert.deepEqual([status, headers[HEADER], headers['x-other'], body], [502, undefined, 'stays', 'site'])
})
