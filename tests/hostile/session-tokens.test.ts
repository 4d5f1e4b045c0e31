// Session tokens with one fault each, at every place of the real server that reads one: all are refused alike, and no
// instance is touched.
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { after, test } from 'node:test'
import { linkPurposes } from '@berth/contracts/link'
import { assertError } from '../conformance/error-answer.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, type Session } from '../fixtures/sessions.ts'
import { assertNoFaultLogged } from './server-log.ts'
import {
  decode,
  devtoolsPlaces,
  encode,
  exchange,
  openingOf,
  places,
  readTokenSecret,
  signToken,
  tokensOf,
  UpstreamWitness,
  type Place,
} from './session-openings.ts'

type AnyPlace = Place | Place<'devtools'>

const owner = { after }
const server = await startServer(owner)
const secret = await readTokenSecret(server)
const headful = { headless: false }
const [session, other] = [await createSession(server, headful), await createSession(server, headful)]
const witness = await UpstreamWitness.of(server)
const now = Math.floor(Date.now() / 1000)

/** The token for DevTools is signed here, because a link asks the browser for its pages. */
function allTokensOf(of: Session): Record<AnyPlace['audience'], string> {
  const tokens = tokensOf(of)
  const [header, claims] = tokens.cdp.split('.').slice(0, 2).map(decode)
  return { ...tokens, devtools: signToken(header!, { ...claims, aud: 'devtools' }, secret) }
}

const allPlaces: readonly AnyPlace[] = [...places, ...devtoolsPlaces]
const goodTokens = allTokensOf(session)
const open = (place: AnyPlace, token: string) => exchange(server, openingOf(server, place, token))

/** Signed with the attacker's own key, with the server's secret in place of a public key. */
function rsaToken(header: object, claims: object): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
}

function hostileTokens({ audience }: AnyPlace): Record<string, string> {
  const good = goodTokens[audience]
  const [headerPart, claimsPart, signature] = good.split('.') as [string, string, string]
  const header = decode(headerPart)
  const claims = decode(claimsPart)
  const withHeader = (change: object, hash?: string) =>
    signToken({ ...header, ...change }, claims, secret, hash)
  const withClaims = (change: object) => signToken(header, { ...claims, ...change }, secret)
  const unsigned = (alg: string) => `${encode({ ...header, alg })}.${claimsPart}.`
  const stolen = encode({ ...claims, sid: other.session_id })
  const wrongAudience = audience === 'cdp' ? 'bidi' : 'cdp'
  return {
    'no token': '',
    'alg none': unsigned('none'),
    'alg NoNe': unsigned('NoNe'),
    'alg none, and a signature': withHeader({ alg: 'none' }),
    'alg HS512': withHeader({ alg: 'HS512' }, 'sha512'),
    'alg HS384': withHeader({ alg: 'HS384' }, 'sha384'),
    'alg RS256, with the secret as its public key': withHeader({ alg: 'RS256' }),
    'alg RS256': rsaToken({ ...header, alg: 'RS256' }, claims),
    'no signature': `${headerPart}.${claimsPart}.`,
    'two parts': `${headerPart}.${claimsPart}`,
    'a signature with one letter changed': `${headerPart}.${claimsPart}.${flip(signature)}`,
    'the attacker’s own key': signToken(
      { ...header, jwk: { kty: 'oct', k: 'AAAA' } },
      claims,
      Buffer.from('AAAA', 'base64url'),
    ),
    'an empty key': signToken(header, claims, ''),
    'no kid': withHeader({ kid: undefined }),
    'another kid': withHeader({ kid: 'other' }),
    'a kid that is a path': withHeader({ kid: '../../../dev/null' }),
    'an unknown crit': withHeader({ crit: ['x'], x: 1 }),
    'crit b64': withHeader({ crit: ['b64'], b64: false }),
    'no exp': withClaims({ exp: undefined }),
    'exp in the past': withClaims({ exp: now - 3600 }),
    'exp as text': withClaims({ exp: String(now + 3600) }),
    'nbf in the future': withClaims({ nbf: now + 3600 }),
    'no aud': withClaims({ aud: undefined }),
    ...(audience !== 'live' && { 'aud live': withClaims({ aud: ['live', 'live_read_only'] }) }),
    'aud replay': withClaims({ aud: ['replay'] }),
    'aud control alone': withClaims({ aud: 'control' }),
    [`aud ${wrongAudience}`]: withClaims({ aud: wrongAudience }),
    [`the ${wrongAudience} token of the same session`]: goodTokens[wrongAudience],
    'the sid of another session with the old signature': `${headerPart}.${stolen}.${signature}`,
    'no sid': withClaims({ sid: undefined }),
    'a sid that is a list': withClaims({ sid: [session.session_id] }),
    'an API key': server.key,
    '4 KB': withClaims({ padding: 'a'.repeat(4096) }),
    '8 KB of letters': 'a'.repeat(8192),
    'a token twice': `${good}&jwt=${good}`,
    'a token and more': `${good}%00`,
    'a token as a list': `&jwt[]=${good}`,
  }
}

function flip(signature: string): string {
  return (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
}

for (const place of allPlaces) {
  test(`no bad token opens ${place.path}`, async () => {
    const before = await witness.count(session)
    for (const [what, token] of Object.entries(hostileTokens(place))) {
      const answer = await open(place, token)
      assert.ok(answer, what)
      assertError(answer, 'unauthorized', what)
      assert.match(answer.headers.connection ?? '', /close/, what)
    }
    const huge = await open(place, 'a'.repeat(1024 * 1024))
    // Much data is still in transit when the answer comes, so a reset may overtake it.
    if (huge) assertError(huge, 'headers_too_large')
    assert.equal(await witness.count(session), before, 'an instance was connected to')
    assert.equal(await witness.count(other), 0)

    const answer = await open(place, goodTokens[place.audience])
    assert.equal(answer?.status, place.isWebSocket ? 101 : 200)
    assert.equal(await witness.count(session), before + 1)
  })
}

test('a forged token without a fault would be accepted', async () => {
  for (const place of allPlaces) {
    const [header, claims] = goodTokens[place.audience].split('.').slice(0, 2).map(decode)
    const answer = await open(place, signToken(header!, { ...claims, jti: 'forged' }, secret))
    assert.equal(answer?.status, place.isWebSocket ? 101 : 200, place.path)
  }
})

test('the token of a deleted session finds nothing once the DELETE is answered', async () => {
  for (const place of allPlaces) {
    const ended = await createSession(server, headful)
    const tokens = allTokensOf(ended)
    assert.equal((await server.fetch(`/browsers/${ended.session_id}`, { method: 'DELETE' })).status, 204)
    assertError((await open(place, tokens[place.audience]))!, 'not_found', place.path)
    assert.equal(await witness.count(ended), 0)
  }
})

test('a token is read only from the URL', async () => {
  const before = await witness.count(session)
  for (const place of allPlaces) {
    const token = goodTokens[place.audience]
    for (const header of [
      `Authorization: Bearer ${token}`,
      `Cookie: jwt=${token}`,
      `Sec-WebSocket-Protocol: ${token}`,
      `Referer: ${server.url}${place.path}?jwt=${token}`,
    ]) {
      const answer = await exchange(server, [...openingOf(server, place, ''), header])
      assertError(answer!, 'unauthorized', `${place.path} ${header.slice(0, 20)}`)
    }
  }
  assert.equal(await witness.count(session), before)
})

test('no client token opens the link between servers', async () => {
  const { host } = new URL(server.url)
  const opening = (purpose: string, authorization: string[], protocol = 'berth-link') => [
    `GET /internal/link/${purpose} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: Upgrade',
    `Upgrade: ${protocol}`,
    ...authorization.map((value) => `Authorization: ${value}`),
  ]
  const [header, claims] = goodTokens.cdp.split('.').slice(0, 2).map(decode)
  const tokenOfServers = signToken(header!, { ...claims, aud: 'link', exp: now + 60 }, secret)
  const before = await witness.count(session)
  for (const purpose of linkPurposes) {
    const wrong = {
      ...hostileTokens(places[0]!),
      'the cdp token': goodTokens.cdp,
      'the bidi token': goodTokens.bidi,
      'the playwright token': goodTokens.playwright,
      'the live token': goodTokens.live,
      'the DevTools token': goodTokens.devtools,
    }
    for (const [what, token] of Object.entries(wrong)) {
      const answer = await exchange(server, opening(purpose, [`Bearer ${token}`]))
      assertError(answer!, 'unauthorized', `${purpose}, ${what}`)
    }
    for (const authorization of [
      [],
      [`Basic ${tokenOfServers}`],
      [`Bearer ${tokenOfServers}`, `Bearer ${tokenOfServers}`],
    ]) {
      const answer = await exchange(server, opening(purpose, authorization))
      assertError(answer!, ['unauthorized', 'bad_request'], `${purpose}, ${authorization.length} headers`)
    }
    const inQuery = await exchange(server, opening(`${purpose}?jwt=${tokenOfServers}`, []))
    assert.ok(inQuery!.status === 404 || inQuery!.status === 401, String(inQuery!.status))
    const asWebSocket = opening(purpose, [`Bearer ${tokenOfServers}`], 'websocket')
    assertError((await exchange(server, asWebSocket))!, 'bad_request', purpose)
  }
  assert.equal(await witness.count(session), before)
  for (const purpose of linkPurposes) {
    const answer = await exchange(server, opening(purpose, [`Bearer ${tokenOfServers}`]))
    assert.equal(answer?.status, 101, purpose)
  }
})

test('a session token is not an API key', async () => {
  for (const token of Object.values(goodTokens)) {
    for (const path of ['/browsers', `/browsers/${session.session_id}`, '/org/limits']) {
      assert.equal((await server.fetch(path, { key: token })).status, 401, path)
    }
  }
})

test('no request caused a server error', () => assertNoFaultLogged(server))
