// Websocket handshakes for sessions: the real server accepts only proper ones without an origin or from its own
// pages, and keeps working after all others.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ErrorCode } from '@berth/contracts/errors'
import { assertError } from '../conformance/error-answer.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession } from '../fixtures/sessions.ts'
import { RawConnection } from './raw-connection.ts'
import { assertNoFaultLogged } from './server-log.ts'
import {
  exchange,
  HANDSHAKE,
  openingOf,
  places,
  tokensOf,
  UpstreamWitness,
  type Place,
} from './session-openings.ts'

const owner = { after }
const server = await startServer(owner)
const session = await createSession(server, { headless: false })
const witness = await UpstreamWitness.of(server)
const tokens = tokensOf(session)
const { host, port } = new URL(server.url)
const webSockets = places.filter(({ isWebSocket }) => isWebSocket)

const opening = (place: Place) => openingOf(server, place, tokens[place.audience])

/** How often this test was accepted, and so how often the instance was connected to. */
let opened = 0

async function assertOpens(place: Place, what: string): Promise<void> {
  const answer = await exchange(server, opening(place))
  assert.equal(answer?.status, place.isWebSocket ? 101 : 200, `${place.path} after ${what}`)
  opened++
}

interface Case {
  readonly what: string
  readonly lines: string[]
  readonly expected: ErrorCode | readonly ErrorCode[]
}

/** Each is refused, and the next client is served. */
async function assertRefused(place: Place, { what, lines, expected }: Case): Promise<void> {
  const shown = `${place.path} with ${what}`
  const connection = await RawConnection.open(server.url)
  try {
    connection.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
    const answer = await connection.answer()
    assert.ok(answer, `${shown}: closed without an answer`)
    assertError(answer, expected, shown)
    assert.doesNotMatch(answer.text, /smuggled/, shown)
    // The bytes that follow may be frames for a websocket that does not exist.
    if (place.isWebSocket) await connection.closed()
  } finally {
    connection.destroy()
  }
  await assertOpens(place, what)
}

test('every path refuses a page of another origin, whatever its credentials', async () => {
  for (const place of places) {
    for (const origin of [
      'https://evil.example',
      'null',
      'file://',
      `http://evil.example:${port}`,
      `http://${host}.evil.example`,
      `http://user@evil.example/${host}`,
      `chrome-extension://${'a'.repeat(32)}`,
    ]) {
      const lines = [...opening(place), `Origin: ${origin}`]
      await assertRefused(place, { what: `Origin ${origin}`, lines, expected: 'forbidden' })
    }
    const own = await exchange(server, [...opening(place), `Origin: ${server.url}`])
    assert.equal(own?.status, place.isWebSocket ? 101 : 200)
    opened++
  }
})

test('every path refuses a Host that is foreign, missing or repeated', async () => {
  for (const place of places) {
    const [line = '', ownHost = '', ...rest] = opening(place)
    const byHosts = (...hosts: string[]) => [line, ...hosts.map((name) => `Host: ${name}`), ...rest]
    const path = line.split(' ')[1]!
    const cases: Case[] = [
      { what: 'an evil Host', lines: byHosts('evil.example'), expected: 'misdirected_request' },
      { what: 'a rebound name', lines: byHosts(`evil.example:${port}`), expected: 'misdirected_request' },
      {
        what: 'a metadata Host',
        lines: byHosts('169.254.169.254'),
        expected: 'misdirected_request',
      },
      { what: 'no Host', lines: byHosts(), expected: 'bad_request' },
      { what: 'an empty Host', lines: byHosts(''), expected: 'bad_request' },
      { what: 'two Hosts', lines: byHosts(host, 'evil.example'), expected: 'bad_request' },
      { what: 'the same Host twice', lines: byHosts(host, host), expected: 'bad_request' },
      {
        what: 'an evil host in the request target',
        lines: [`GET http://evil.example${path} HTTP/1.1`, ownHost, ...rest],
        expected: ['misdirected_request', 'bad_request'],
      },
    ]
    for (const each of cases) await assertRefused(place, each)
  }
})

test('a plain request to a websocket path gets 426', async () => {
  for (const place of webSockets) {
    const [line = '', hostLine = ''] = opening(place)
    const plain: Case = { what: 'no upgrade', lines: [line, hostLine], expected: 'upgrade_required' }
    const answer = await exchange(server, plain.lines)
    assert.equal(answer?.headers.upgrade, 'websocket')
    assert.equal(answer?.headers['sec-websocket-version'], '13')
    await assertRefused(place, plain)
    for (const [what, right, wrong] of [
      ['version 8', ': 13', ': 8'],
      ['another protocol', ': websocket', ': h2c'],
    ] as const) {
      const lines = [line, hostLine, ...HANDSHAKE.map((each) => each.replace(right, wrong))]
      await assertRefused(place, { what, lines, expected: 'upgrade_required' })
    }
  }
})

const withKey = (key: string) => HANDSHAKE.map((each) => each.replace(/(-Key: ).*/, `$1${key}`))

test('malformed handshakes and those that smuggle a request are refused', async () => {
  for (const place of webSockets) {
    const [line = '', hostLine = ''] = opening(place)
    const withHandshake = (handshake: string[], first = line) => [first, hostLine, ...handshake]
    const also = (...headers: string[]) => [...opening(place), ...headers]
    const smuggled = ['', 'GET /smuggled HTTP/1.1', hostLine]
    const cases: Case[] = [
      {
        what: 'HTTP/1.0',
        lines: withHandshake(HANDSHAKE, line.replace('1.1', '1.0')),
        expected: ['bad_request', 'upgrade_required'],
      },
      { what: 'no key', lines: withHandshake(HANDSHAKE.slice(0, 3)), expected: 'bad_request' },
      { what: 'an empty key', lines: withHandshake(withKey('')), expected: 'bad_request' },
      { what: 'a short key', lines: withHandshake(withKey('AAAA')), expected: 'bad_request' },
      { what: 'a long key', lines: withHandshake(withKey('A'.repeat(4096))), expected: 'bad_request' },
      { what: 'two keys', lines: also(HANDSHAKE[3]!), expected: 'bad_request' },
      {
        what: '64 KB of a header',
        lines: also(`X-Long: ${'x'.repeat(65_536)}`),
        expected: 'headers_too_large',
      },
      {
        what: '64 KB of headers',
        lines: also(...Array<string>(1000).fill(`X-Many: ${'x'.repeat(56)}`)),
        expected: 'headers_too_large',
      },
      {
        what: 'Content-Length and Transfer-Encoding',
        lines: also('Content-Length: 5', 'Transfer-Encoding: chunked', '', '0', '', ...smuggled.slice(1)),
        expected: 'bad_request',
      },
      {
        what: 'Transfer-Encoding: xchunked',
        lines: also('Transfer-Encoding: xchunked', ...smuggled),
        expected: 'bad_request',
      },
      {
        what: 'a body with a length',
        lines: also('Content-Length: 60', ...smuggled),
        expected: 'bad_request',
      },
      {
        what: 'a chunked body',
        lines: also('Transfer-Encoding: chunked', '', '0', '', ...smuggled.slice(1)),
        expected: 'bad_request',
      },
      { what: 'two lengths', lines: also('Content-Length: 0', 'Content-Length: 9'), expected: 'bad_request' },
      { what: 'a folded header', lines: also('X-Fold: one', ' two'), expected: 'bad_request' },
      {
        what: 'a header folded into a length',
        lines: also('X-Fold: one', '\tContent-Length: 9'),
        expected: 'bad_request',
      },
      { what: 'a NUL in a header', lines: also('X-Nul: a\0b'), expected: 'bad_request' },
      {
        what: 'another method',
        lines: withHandshake(HANDSHAKE, line.replace('GET', 'POST')),
        expected: ['method_not_allowed', 'bad_request'],
      },
    ]
    for (const each of cases) await assertRefused(place, each)
  }
})

test('frames sent with the handshake, or before its answer, do no harm', async () => {
  for (const place of webSockets) {
    const connection = await RawConnection.open(server.url)
    connection.write(`${opening(place).join('\r\n')}\r\n\r\n`)
    connection.write(Buffer.from([0x81, 0x05, 1, 2, 3, 4, 5]))
    // A frame without a mask: by RFC 6455 the connection must fail.
    assert.equal((await connection.answer({ hasBody: false }))?.status, 101)
    opened++
    await connection.closed()
    await assertOpens(place, 'a frame without a mask')
  }
})

test('no refused request reached the instance', async () => {
  assert.equal(await witness.count(session), opened)
})

test('no request caused a server error', () => assertNoFaultLogged(server))
