import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, randomBytes, sign as signWith } from 'node:crypto'
import { test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { AppError } from '../../platform/errors/app-error.ts'
import { SessionTokens } from './tokens.ts'

const secret = randomBytes(64)
const keys = [{ kid: 'k1', secret }]
const tokens = new SessionTokens({ keys })
const now = Math.floor(Date.now() / 1000)

const goodHeader = { alg: 'HS256', kid: 'k1' }
const goodClaims = { sid: 'one', aud: 'cdp', iat: now, exp: now + 3600, jti: 'x' }

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

function forge(header: unknown, claims: unknown, hash = 'sha256', key: Uint8Array | string = secret): string {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}

async function isRefused(token: string, audience = 'cdp'): Promise<boolean> {
  const error: unknown = await tokens.verify(token, audience).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) return false
  assert.ok(error instanceof AppError)
  assert.equal(error.code, 'unauthorized')
  assert.ok(token.length < 20 || !error.message.includes(token))
  return true
}

test('a token names its session, for its own audiences only', async () => {
  const token = tokens.sign({ sessionId: 'abc', audience: ['cdp', 'control'] })
  assert.equal((await tokens.verify(token, 'cdp')).sessionId, 'abc')
  assert.equal((await tokens.verify(token, 'control')).sessionId, 'abc')
  for (const audience of ['bidi', 'live', 'replay', '']) assert.ok(await isRefused(token, audience), audience)
  const live = tokens.sign({ sessionId: 'abc', audience: ['live'] })
  assert.ok(await isRefused(live, 'cdp'))
  assert.equal((await tokens.verify(live, 'live')).sessionId, 'abc')
})

test('a token has the agreed claims, and no two are equal', () => {
  const token = tokens.sign({ sessionId: 'abc', audience: ['bidi'] })
  const claims = decodeJwt(token)
  assert.deepEqual(Object.keys(claims).toSorted(), ['aud', 'exp', 'iat', 'jti', 'sid'])
  assert.equal(claims.aud, 'bidi')
  assert.deepEqual(decodeProtectedHeader(token), { alg: 'HS256', typ: 'JWT', kid: 'k1' })
  assert.notEqual(token, tokens.sign({ sessionId: 'abc', audience: ['bidi'] }))
})

test('a correct token from the forger of these tests is accepted', async () => {
  assert.ok(!(await isRefused(forge(goodHeader, goodClaims))))
  // Not from the beginning of the file: a busy machine may have needed more than the leeway since then.
  const exp = Math.floor(Date.now() / 1000) - 30
  assert.ok(!(await isRefused(forge(goodHeader, { ...goodClaims, exp }))), 'within the leeway')
})

test('no other algorithm is accepted', async () => {
  const unsigned = (alg: string) => `${encode({ ...goodHeader, alg })}.${encode(goodClaims)}.`
  for (const alg of ['none', 'NoNe', 'NONE', 'HS256', '']) assert.ok(await isRefused(unsigned(alg)), alg)
  for (const alg of ['none', 'hs256', 'HS512', 'RS256', 'ES256', 'PS256', 'dir']) {
    assert.ok(await isRefused(forge({ ...goodHeader, alg }, goodClaims)), alg)
  }
  assert.ok(await isRefused(forge({ ...goodHeader, alg: 'HS512' }, goodClaims, 'sha512')))
  assert.ok(await isRefused(forge({ ...goodHeader, alg: 'HS384' }, goodClaims, 'sha384')))
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signed = `${encode({ ...goodHeader, alg: 'RS256' })}.${encode(goodClaims)}`
  const signature = signWith('sha256', Buffer.from(signed), privateKey).toString('base64url')
  assert.ok(await isRefused(`${signed}.${signature}`))
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  assert.ok(await isRefused(forge(goodHeader, goodClaims, 'sha256', pem)))
})

test('a key from the header is not used', async () => {
  const other = randomBytes(32)
  const jwk = { kty: 'oct', k: other.toString('base64url') }
  for (const header of [
    { alg: 'HS256' },
    { alg: 'HS256', kid: 'k2' },
    { alg: 'HS256', kid: '../../dev/null' },
    { alg: 'HS256', kid: '__proto__' },
    { alg: 'HS256', kid: 1 },
    { alg: 'HS256', kid: null },
  ]) {
    assert.ok(await isRefused(forge(header, goodClaims)), JSON.stringify(header))
    assert.ok(await isRefused(forge(header, goodClaims, 'sha256', '')), JSON.stringify(header))
  }
  assert.ok(
    await isRefused(forge({ ...goodHeader, jwk, jku: 'https://evil.example' }, goodClaims, 'sha256', other)),
  )
})

test('extensions that must be understood are refused', async () => {
  for (const header of [
    { ...goodHeader, crit: ['exp'], exp: 1 },
    { ...goodHeader, crit: [] },
    { ...goodHeader, crit: ['b64'], b64: false },
    { ...goodHeader, crit: 'x' },
    { ...goodHeader, crit: ['x'], x: true },
  ]) {
    assert.ok(await isRefused(forge(header, goodClaims)), JSON.stringify(header))
  }
})

test('missing or wrong times and claims are refused', async () => {
  for (const change of [
    { exp: undefined },
    { exp: null },
    { exp: '9999999999' },
    { exp: now - 61 },
    { exp: 0 },
    { nbf: now + 120 },
    { nbf: 'x' },
    { iat: undefined },
    { jti: undefined },
    { sid: undefined },
    { sid: 7 },
    { sid: ['one'] },
    { aud: undefined },
    { aud: 'live' },
    { aud: [] },
    { aud: ['live', 'bidi'] },
    { aud: 'cdp control' },
    { aud: { cdp: true } },
  ]) {
    assert.ok(await isRefused(forge(goodHeader, { ...goodClaims, ...change })), JSON.stringify(change))
  }
})

test('changed, shortened and malformed tokens are refused', async () => {
  const token = tokens.sign({ sessionId: 'one', audience: ['cdp'] })
  const [header, claims, signature] = token.split('.') as [string, string, string]
  const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
  for (const junk of [
    '',
    '.',
    '..',
    '...',
    'x',
    '\0',
    'null',
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}.${claims}.${flipped}`,
    `${header}.${claims}.${signature.slice(0, -1)}`,
    `${header}.${claims}.${signature}.${signature}`,
    `${header}.${encode({ ...goodClaims, sid: 'two' })}.${signature}`,
    `.${claims}.${signature}`,
    `${token} `,
    ` ${token}`,
    `${token}=`,
    token.toLowerCase(),
    forge('not json', goodClaims),
    forge(goodHeader, 'not json'),
    forge(goodHeader, []),
    forge([], goodClaims),
    'a'.repeat(1024 * 1024),
    `${header}.${'a'.repeat(1024 * 1024)}.${signature}`,
    forge(goodHeader, { ...goodClaims, padding: 'a'.repeat(1024 * 1024) }),
  ]) {
    assert.ok(await isRefused(junk), junk.slice(0, 80))
  }
  assert.ok(!(await isRefused(token)))
})

test('a token of an older key is accepted, and one of a removed key is refused', async () => {
  const old = tokens.sign({ sessionId: 'one', audience: ['cdp'] })
  const rotated = new SessionTokens({ keys: [{ kid: 'k2', secret: randomBytes(32) }, ...keys] })
  assert.equal((await rotated.verify(old, 'cdp')).sessionId, 'one')
  assert.equal(decodeProtectedHeader(rotated.sign({ sessionId: 'one', audience: ['cdp'] })).kid, 'k2')
  const forgetful = new SessionTokens({ keys: [{ kid: 'k1', secret: randomBytes(32) }] })
  await assert.rejects(forgetful.verify(old, 'cdp'), { code: 'unauthorized' })
})

test('a remembered token still expires and still has its audience', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: now * 1000 })
  const token = forge(goodHeader, { ...goodClaims, exp: now + 10 })
  assert.ok(!(await isRefused(token)))
  assert.ok(await isRefused(token, 'live'))
  t.mock.timers.tick(71_000)
  assert.ok(await isRefused(token))
})

test('a gateway does not start with a weak key or none', () => {
  assert.throws(() => new SessionTokens({ keys: [] }), /Cannot sign/)
  assert.throws(() => new SessionTokens({ keys: [{ kid: 'k', secret: randomBytes(31) }] }), /too short/)
})
