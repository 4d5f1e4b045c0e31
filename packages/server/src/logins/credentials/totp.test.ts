import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from 'otpauth'
import type { TotpAlgorithm } from '@berth/contracts/credentials'
import { AppError } from '../../platform/errors/app-error.ts'
import { oneTimeCode, readTotp } from './totp.ts'

const SEED = 'JBSWY3DPEHPK3PXP'
const base32 = (length: number) =>
  Secret.fromUTF8('1234567890'.repeat(7).slice(0, length)).base32.replaceAll('=', '')

// RFC 6238, appendix B: eight digits, and a seed with the length of the hash.
const seeds: Record<TotpAlgorithm, string> = { SHA1: base32(20), SHA256: base32(32), SHA512: base32(64) }
const vectors: [seconds: number, codes: Record<TotpAlgorithm, string>][] = [
  [59, { SHA1: '94287082', SHA256: '46119246', SHA512: '90693936' }],
  [1111111109, { SHA1: '07081804', SHA256: '68084774', SHA512: '25091201' }],
  [1111111111, { SHA1: '14050471', SHA256: '67062674', SHA512: '99943326' }],
  [1234567890, { SHA1: '89005924', SHA256: '91819424', SHA512: '93441116' }],
  [2000000000, { SHA1: '69279037', SHA256: '90698825', SHA512: '38618901' }],
  [20000000000, { SHA1: '65353130', SHA256: '77737706', SHA512: '47863826' }],
]

for (const [seconds, codes] of vectors) {
  test(`codes at ${seconds} s are those of RFC 6238`, () => {
    for (const [algorithm, expected] of Object.entries(codes) as [TotpAlgorithm, string][]) {
      const seed = readTotp({ totp_secret: seeds[algorithm], totp_algorithm: algorithm, totp_digits: 8 })!
      const { code, validFrom, expiresAt } = oneTimeCode(seed, { now: new Date(seconds * 1000) })
      assert.equal(code, expected, algorithm)
      const start = Math.floor(seconds / 30) * 30_000
      assert.deepEqual([validFrom.getTime(), expiresAt.getTime()], [start, start + 30_000])
    }
  })
}

test('ignores spaces, dashes, padding and letter case', () => {
  const plain = { secret: SEED, algorithm: 'SHA1', digits: 6, period: 30 }
  for (const text of [SEED, 'jbsw y3dp ehpk 3pxp', 'JBSW-Y3DP-EHPK-3PXP', `  ${SEED}====`, `${SEED}\t`]) {
    assert.deepEqual(readTotp({ totp_secret: text }), plain)
  }
})

const of = (query: string, fields: object = {}) =>
  readTotp({ totp_secret: `otpauth://totp/Big%20Corp:alice@example.com?${query}`, ...fields })

test('reads a URI as authenticator apps do; it wins over fields, and its label is not stored', () => {
  assert.deepEqual(of(`secret=${SEED}&issuer=Big%20Corp`), {
    secret: SEED,
    algorithm: 'SHA1',
    digits: 6,
    period: 30,
  })
  assert.deepEqual(of(`secret=${SEED.toLowerCase()}&algorithm=sha-256&digits=8&period=60`), {
    secret: SEED,
    algorithm: 'SHA256',
    digits: 8,
    period: 60,
  })
  const fields = { totp_algorithm: 'SHA512', totp_digits: 7, totp_period: 45 }
  assert.deepEqual(of(`secret=${SEED}&digits=8`, fields), {
    secret: SEED,
    algorithm: 'SHA512',
    digits: 8,
    period: 45,
  })
  assert.equal(readTotp({ totp_secret: `OTPAUTH://TOTP/x?secret=${SEED}` })?.secret, SEED)
})

test('a missing or empty secret means no seed', () => {
  assert.equal(readTotp({}), undefined)
  assert.equal(readTotp({ totp_secret: '' }), undefined)
})

test('refuses an invalid secret without repeating it', () => {
  const wrong = [
    'short',
    'JBSWY3DPEHPK3PX',
    'A'.repeat(129),
    'JBSWY3DPEHPK3PX1',
    'JBSW=Y3DPEHPK3PXP',
    'ÄBSWY3DPEHPK3PXP',
    `otpauth://hotp/x?secret=${SEED}`,
    'otpauth://totp/x',
    'otpauth://totp/x?secret=short',
    'otpauth:nothing',
    `otpauth://totp/x?secret=${SEED}&digits=10`,
    `otpauth://totp/x?secret=${SEED}&digits=six`,
    `otpauth://totp/x?secret=${SEED}&period=14`,
    `otpauth://totp/x?secret=${SEED}&period=301`,
    `otpauth://totp/x?secret=${SEED}&period=3e1`,
    `otpauth://totp/x?secret=${SEED}&algorithm=MD5`,
  ]
  for (const text of wrong) {
    assert.throws(
      () => readTotp({ totp_secret: text }),
      (error) => {
        assert.ok(error instanceof AppError && error.code === 'bad_request', text)
        assert.ok(!error.message.includes(text) && !error.message.includes(SEED), error.message)
        return true
      },
    )
  }
  for (const field of [{ totp_digits: 6 }, { totp_period: 30 }, { totp_algorithm: 'SHA1' as const }]) {
    assert.throws(() => readTotp(field), /needs a totp_secret/)
  }
})

const at = (seconds: number) => new Date(seconds * 1000)

test('a code of a later window comes with the time from which it is valid', () => {
  const seed = readTotp({ totp_secret: SEED })!
  const first = oneTimeCode(seed, { now: at(1000) })
  assert.deepEqual([first.validFrom, first.expiresAt], [at(990), at(1020)])
  // It was just used: the caller must wait for the next code.
  const next = oneTimeCode(seed, { now: at(1005), notBefore: at(1000) })
  assert.deepEqual([next.validFrom, next.expiresAt], [at(1020), at(1050)])
  assert.notEqual(next.code, first.code)
  assert.deepEqual(oneTimeCode(seed, { now: at(1020) }), next)
  // It was used long ago: the current code is another one.
  assert.deepEqual(oneTimeCode(seed, { now: at(1025), notBefore: at(1000) }), next)
})
