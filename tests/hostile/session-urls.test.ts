// The URLs of a session, in the hands of somebody who may not have them, has only a part of them, or talks
// to them in ways that no client does. gateway/*.test.ts has every forged token; this is the whole server.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { WebSocket, type ClientOptions } from 'ws'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'
import { RawConnection } from './raw-connection.ts'
import { assertNoFaultLogged } from './server-log.ts'

const owner = { after }
const site = await startSite(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { BERTH_LOG_LEVEL: 'debug', ...site.allow },
})
const { browsers } = client84(server)
const session = await browsers.create({ headless: true, timeout_seconds: 600 })
const other = await browsers.create({ headless: true, timeout_seconds: 600 })
const host = new URL(server.url).host

const paths = { cdp: '/browser/cdp', bidi: '/browser/webdriver/session' } as const
const tokenOf = (url: string) => new URL(url).searchParams.get('jwt')!
const tokens = { cdp: tokenOf(session.cdp_ws_url), bidi: tokenOf(session.webdriver_ws_url!) }

/** The status of a refused upgrade; 101 when it was not. */
async function upgrade(path: string, options: ClientOptions = {}): Promise<number> {
  const socket = new WebSocket(`ws://${host}${path}`, options)
  socket.on('error', () => {})
  const opened = once(socket, 'open').then(() => 101)
  opened.catch(() => {})
  const refused = once(socket, 'unexpected-response').then(
    ([, response]) => (response as { statusCode: number }).statusCode,
  )
  refused.catch(() => {})
  const status = await Promise.race([opened, refused])
  socket.terminate()
  return status
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function forged(purpose: 'cdp' | 'bidi'): Record<string, string> {
  const good = tokens[purpose]
  const [head, claims, signature] = good.split('.') as [string, string, string]
  const read = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }
  const [, claimsOfOther] = tokenOf(purpose === 'cdp' ? other.cdp_ws_url : other.webdriver_ws_url!).split('.')
  const signedWith = (alg: string, hash: string, key: string) => {
    const text = `${encode({ alg, kid })}.${encode(read)}`
    return `${text}.${createHmac(hash, key).update(text).digest('base64url')}`
  }
  return {
    'no token': '',
    rubbish: 'x.y.z',
    'alg none': `${encode({ alg: 'none', kid })}.${claims}.`,
    'alg NoNe with the old signature': `${encode({ alg: 'NoNe', kid })}.${claims}.${signature}`,
    'no signature': `${head}.${claims}.`,
    'another signature': `${head}.${claims}.${signature.split('').toReversed().join('')}`,
    'the session of another': `${head}.${claimsOfOther}.${signature}`,
    HS512: signedWith('HS512', 'sha512', kid),
    'a guessed key': signedWith('HS256', 'sha256', kid),
    'another kid': `${encode({ alg: 'HS256', kid: 'other' })}.${claims}.${signature}`,
    'the token of the other purpose': tokens[purpose === 'cdp' ? 'bidi' : 'cdp'],
    'an API key': server.key,
    'a token and more': `${good}x`,
    'a megabyte': `${good}${'a'.repeat(15_000)}`,
  }
}

for (const purpose of ['cdp', 'bidi'] as const) {
  test(`a ${purpose} websocket is opened with its own token and with no other`, async () => {
    for (const [what, token] of Object.entries(forged(purpose))) {
      const status = await upgrade(`${paths[purpose]}?jwt=${token}`)
      assert.ok(status === 401 || (what === 'a megabyte' && status === 431), `${what}: ${status}`)
    }
    const twice = `${paths[purpose]}?jwt=${tokens[purpose]}&jwt=${tokens[purpose]}`
    assert.equal(await upgrade(twice), 401)
    assert.equal(await upgrade(`${paths[purpose]}?jwt=${tokens[purpose]}`), 101)
  })
}

test('what Chromium tells over plain HTTP needs the token as well', async () => {
  for (const at of ['/json', '/json/list', '/json/version', '/json/protocol', '/devtools/browser/x']) {
    for (const [what, token] of Object.entries(forged('cdp'))) {
      const { status } = await fetch(`${server.url}${paths.cdp}${at}?jwt=${token}`)
      assert.ok(status === 401 || status === 431, `${at}, ${what}: ${status}`)
    }
  }
  assert.equal((await fetch(`${server.url}${paths.cdp}/json/version?jwt=${tokens.cdp}`)).status, 200)
})

test('a page of another origin, another host, and what is no websocket are refused', async () => {
  const path = `${paths.cdp}?jwt=${tokens.cdp}`
  for (const origin of ['https://evil.example', 'null', `https://${host}.evil.example`]) {
    assert.equal(await upgrade(path, { origin }), 403, origin)
  }
  assert.equal(await upgrade(path, { origin: server.url }), 101)
  for (const name of ['evil.example', 'evil.example:80']) {
    const status = await upgrade(path, { headers: { host: name } })
    assert.ok(status === 400 || status === 421, `"${name}": ${status}`)
  }
  assert.equal((await fetch(`${server.url}${path}`)).status, 426)
  assert.equal((await fetch(`${server.url}${path}`, { method: 'POST' })).status, 405)
})

test('requests that are made to be misunderstood are refused, and the next one is served', async () => {
  const path = `${paths.cdp}?jwt=${tokens.cdp}`
  const lines = (...more: string[]) => [
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
  ]
  const request = (headers: string[], version = '1.1') =>
    `GET ${path} HTTP/${version}\r\n${headers.join('\r\n')}\r\n\r\n`
  const without = (name: string) => lines().filter((line) => !line.startsWith(name))
  const cases: Record<string, string> = {
    'HTTP/1.0': request(lines(), '1.0'),
    'no key': request(without('Sec-WebSocket-Key')),
    'a bad key': request([...without('Sec-WebSocket-Key'), 'Sec-WebSocket-Key: short']),
    'two keys': request(lines('Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')),
    'another version': request([...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 8']),
    'two hosts': request(lines('Host: evil.example')),
    'no host': request(without('Host')),
    'a length': request(lines('Content-Length: 5')) + 'GET /',
    'a length and chunks': request(lines('Content-Length: 5', 'Transfer-Encoding: chunked')) + '0\r\n\r\n',
    'chunks of another kind': request(lines('Transfer-Encoding: xchunked')) + '0\r\n\r\n',
    'a folded header': request(lines('X-Folded: one\r\n two')),
    'headers of 64 KB': request(lines(`X-Long: ${'a'.repeat(65_536)}`)),
  }
  for (const [what, bytes] of Object.entries(cases)) {
    const connection = await RawConnection.open(server.url)
    connection.write(bytes)
    const status = (await connection.answer())?.status
    assert.ok(status !== undefined && [400, 421, 426, 431].includes(status), `${what}: ${status}`)
    await connection.closed()
    assert.equal((await fetch(`${server.url}/health`)).status, 200, `after ${what}`)
  }
  assert.equal(await upgrade(path), 101)
})

test('no token of a session is in the log, the audit trail or the metrics', async () => {
  await upgrade(`${paths.cdp}?jwt=${tokens.cdp}`)
  await fetch(`${server.url}${paths.cdp}/json/version?jwt=${tokens.cdp}`)
  await fetch(`${server.url}/nowhere?jwt=${tokens.cdp}`)
  await server.fetch(`/browsers/${session.session_id}?jwt=${tokens.cdp}`)
  await browsers.deleteByID(other.session_id)
  assert.equal(await upgrade(`${paths.cdp}?jwt=${tokenOf(other.cdp_ws_url)}`), 404)
  const signatures = [session, other].flatMap(({ cdp_ws_url, webdriver_ws_url }) =>
    [cdp_ws_url, webdriver_ws_url!].map((url) => tokenOf(url).split('.')[2]!),
  )
  const day = 24 * 3_600_000
  const [start, end] = [-day, day].map((shift) => new Date(Date.now() + shift).toISOString())
  const places = {
    log: server.output(),
    audit: await (await server.fetch(`/audit-logs?start=${start}&end=${end}&limit=100`)).text(),
    metrics: await (await server.fetch('/metrics')).text(),
  }
  assert.match(places.audit, /nowhere|browsers/)
  for (const [place, text] of Object.entries(places)) {
    for (const signature of signatures) assert.ok(!text.includes(signature), `a token is in the ${place}`)
  }
  assertNoFaultLogged(server)
})
