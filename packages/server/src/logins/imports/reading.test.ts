import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importRequestOf } from '@berth/contracts/session-file'
import type { ImportSessionRequest } from '@berth/contracts/session-import'
import { readImport } from './reading.ts'

const own = { domain: 'app.example.com', allowedDomains: ['login.example.net:8443'] }
const NOW = Date.parse('2026-11-19T12:00:00Z')
const later = NOW / 1000 + 3_600
const cookie = { name: 'sid', value: 'abc', domain: 'app.example.com' }

const read = (body: ImportSessionRequest) => readImport(body, own, NOW)
const refused = (body: ImportSessionRequest) => {
  try {
    read(body)
  } catch (error) {
    return (error as Error).message
  }
  assert.fail('it was accepted')
}

test("Playwright's storageState is read, and only what is of the connection is taken", () => {
  const { session, leftOut, leftOutCount } = read({
    storage_state: {
      cookies: [
        { ...cookie, path: '/', expires: later, httpOnly: true, secure: true, sameSite: 'Lax' },
        { ...cookie, domain: '.example.com', expires: -1 },
        { ...cookie, domain: 'login.example.net' },
        { ...cookie, domain: 'example.org' },
        { ...cookie, domain: 'badexample.com' },
        { ...cookie, domain: '.com' },
        { ...cookie, expires: NOW / 1000 - 1 },
        { ...cookie, partitionKey: 'https://top.example' },
        { ...cookie, value: 'a;b' },
      ],
      origins: [
        {
          origin: 'https://app.example.com',
          localStorage: [{ name: 'token', value: 'ü\u0000' }],
          indexedDB: [{}],
        },
        { origin: 'https://login.example.net:8443', localStorage: [{ name: 'a', value: 'b' }] },
        { origin: 'https://login.example.net', localStorage: [{ name: 'a', value: 'b' }] },
      ],
    },
  })
  assert.deepEqual(session.cookies, [
    {
      name: 'sid',
      value: 'abc',
      host: 'app.example.com',
      isHostOnly: true,
      path: '/',
      isSecure: true,
      isHttpOnly: true,
      sameSite: 'Lax',
      expires: later,
    },
    {
      name: 'sid',
      value: 'abc',
      host: 'example.com',
      isHostOnly: false,
      path: '/',
      isSecure: false,
      isHttpOnly: false,
    },
    {
      name: 'sid',
      value: 'abc',
      host: 'login.example.net',
      isHostOnly: true,
      path: '/',
      isSecure: false,
      isHttpOnly: false,
    },
  ])
  assert.deepEqual(
    session.origins.map(({ origin }) => origin),
    ['https://app.example.com', 'https://login.example.net:8443'],
  )
  assert.equal(leftOutCount, leftOut.length)
  assert.deepEqual(
    leftOut.map(({ domain, reason }) => `${domain} ${reason}`),
    [
      'example.org other_domain',
      'badexample.com other_domain',
      '.com other_domain',
      'app.example.com expired',
      'app.example.com partitioned',
      'app.example.com not_importable',
      'https://app.example.com indexed_db',
      'https://login.example.net other_domain',
    ],
  )
})

test('a list of cookies as extensions write it is read', () => {
  const text = JSON.stringify([
    {
      ...cookie,
      domain: '.app.example.com',
      hostOnly: false,
      expirationDate: later + 0.5,
      sameSite: 'no_restriction',
      secure: true,
      session: false,
      storeId: '0',
    },
    { ...cookie, domain: 'app.example.com', hostOnly: true, sameSite: 'unspecified' },
  ])
  const { session } = read(importRequestOf(text))
  assert.deepEqual(
    session.cookies.map(({ isHostOnly, sameSite, expires }) => [isHostOnly, sameSite, expires]),
    [
      [false, 'None', later + 0.5],
      [true, undefined, undefined],
    ],
  )
})

test('cookies.txt is read', () => {
  const lines = [
    '# Netscape HTTP Cookie File',
    '',
    `app.example.com\tFALSE\t/\tTRUE\t${later}\tsid\tabc`,
    `#HttpOnly_.example.com\tTRUE\t/app\tFALSE\t0\tvisit\t`,
  ]
  const { session } = read(importRequestOf(lines.join('\r\n')))
  assert.deepEqual(session.cookies, [
    {
      name: 'sid',
      value: 'abc',
      host: 'app.example.com',
      isHostOnly: true,
      path: '/',
      isSecure: true,
      isHttpOnly: false,
      expires: later,
    },
    {
      name: 'visit',
      value: '',
      host: 'example.com',
      isHostOnly: false,
      path: '/app',
      isSecure: false,
      isHttpOnly: true,
    },
  ])
})

const cases: readonly (readonly [what: string, body: ImportSessionRequest, says: RegExp])[] = [
  ['nothing', {}, /exactly one of storage_state, cookies and cookies_txt/],
  ['two formats', { cookies: [cookie], cookies_txt: '' }, /exactly one of/],
  [
    'a domain with a scheme',
    { cookies: [{ ...cookie, domain: 'https://a.example' }] },
    /cookies\[0\]\.domain: must be a host/,
  ],
  [
    'a path without a slash',
    { cookies: [{ ...cookie, path: 'app' }] },
    /cookies\[0\]\.path: must begin with \//,
  ],
  [
    'another SameSite',
    { storage_state: { cookies: [cookie, { ...cookie, sameSite: 'Never' }] } },
    /storage_state\.cookies\[1\]\.sameSite: must be Strict, Lax or None/,
  ],
  [
    'an origin of a file',
    { storage_state: { origins: [{ origin: 'file:///etc' }] } },
    /storage_state\.origins\[0\]\.origin: must be an origin/,
  ],
  [
    'a line with six fields',
    { cookies_txt: 'a\tTRUE\t/\tTRUE\t0\tsid' },
    /cookies_txt: line 1 must have 7 fields/,
  ],
  [
    'a line with a date',
    { cookies_txt: '#\na\tTRUE\t/\tTRUE\tsoon\tsid\t1' },
    /cookies_txt: line 2 .* fifth field/,
  ],
  [
    'only another website',
    { cookies: [{ ...cookie, domain: 'example.org' }] },
    /cookies: has nothing that app\.example\.com .* 1 entries are of other domains/,
  ],
  ['an empty state', { storage_state: {} }, /storage_state: has nothing .* it is empty/],
]
for (const [what, body, says] of cases) {
  test(`${what} is refused by the name of the field`, () => assert.match(refused(body), says))
}

test('another file is refused', () => {
  assert.throws(() => importRequestOf('{"cookies"'), /is not JSON/)
  assert.throws(() => importRequestOf('hello'), /none of/)
})
