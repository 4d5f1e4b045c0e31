// Codes and links in mails as websites send them.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { WantedMail } from '../run/mailbox.ts'
import { codeIn } from './code.ts'
import { findIn } from './find.ts'
import { linkIn } from './link.ts'
import { toMail, type RawMail } from './mail.ts'

const mail = (given: RawMail) => toMail({ from: { address: 'no-reply@harbour.example' }, ...given })

test('the code is found in mails of several languages and shapes', () => {
  const codes: [string, RawMail][] = [
    [
      '483920',
      { subject: 'Your code', text: 'Your verification code is 483920.\nIt expires in 10 minutes.' },
    ],
    [
      '483920',
      { subject: '483920 is your Harbour code', text: 'Use it to sign in. © 2026 Harbour, Pier 12345' },
    ],
    [
      '483920',
      { subject: 'Sign in', text: 'Enter this code:\n\n483 920\n\nIt is valid until 10:30 on 19.11.2026.' },
    ],
    ['483920', { subject: 'Anmeldung', text: 'Ihr Bestätigungscode lautet:\n483-920' }],
    ['4839', { subject: 'Code de vérification', text: 'Code de vérification : 4839\nTél. 01 23 45 67 89' }],
    ['A7K2Q9', { subject: 'Login', text: 'Your one-time code\nA7K2Q9\nOrder 20261119' }],
    ['483920', { subject: '認証コード', text: '認証コード：483920\n有効期限は10分です。' }],
    ['483920', { subject: 'Google', text: 'Your verification code\nG-483920\nDo not share it' }],
    ['48392071', { subject: 'Your login code', text: 'Login code: 4839 2071' }],
    [
      '483920',
      {
        subject: 'Verify',
        html: '<style>.x{width:600000px}</style><p>Your code</p><table><tr><td><b>4</b><b>8</b><b>3</b><b>9</b><b>2</b><b>0</b></td></tr></table><p>Ref 99881177</p>',
      },
    ],
  ]
  for (const [code, raw] of codes) assert.equal(codeIn(mail(raw)), code, JSON.stringify(raw))
})

test('other numbers are no codes, and of two that are as likely none is taken', () => {
  const none: RawMail[] = [
    { subject: 'Your order 483920', text: 'Total $1234.00. Call 020 7946 0123. © 2026' },
    { subject: 'News', text: 'In 2026 we had 120000 visitors' },
    { subject: 'Your codes', text: 'Code 483920 or code 112233' },
    { subject: 'Code', text: 'https://harbour.example/verify?code=483920' },
  ]
  for (const raw of none) assert.equal(codeIn(mail(raw)), undefined, JSON.stringify(raw))
})

test('the page says how long the code is', () => {
  const raw = mail({ subject: 'Your code', text: 'Your code: 4839\nSupport code: 77001122' })
  assert.equal(codeIn(raw, { length: 4 }), '4839')
  assert.equal(codeIn(mail({ subject: 'Code', text: 'Your code is A7K2Q9' }), { isNumeric: true }), undefined)
})

const hosts = ['harbour.example', '*.harbour.example']

test('the link that logs in is found, and no other one', () => {
  const html = `<a href="https://harbour.example/">Harbour</a>
    <a href="https://harbour.example/auth/magic?token=9f8e7d6c5b4a3928&amp;next=%2F">Sign in to Harbour</a>
    <a href="https://harbour.example/unsubscribe/9f8e7d6c5b4a3928">Unsubscribe</a>
    <a href="https://harbour.example/account/not-me?token=9f8e7d6c5b4a3928">This was not me</a>
    <a href="https://evil.example/auth/magic?token=9f8e7d6c5b4a3928">Sign in</a>`
  assert.equal(
    linkIn(mail({ subject: 'Sign in', html }), hosts),
    'https://harbour.example/auth/magic?token=9f8e7d6c5b4a3928&next=%2F',
  )
  assert.equal(linkIn(mail({ html }), ['other.example']), undefined)
  const text = 'Log in here: https://harbour.example/login/9f8e7d6c5b4a3928, or ignore this mail'
  assert.equal(linkIn(mail({ text }), hosts), 'https://harbour.example/login/9f8e7d6c5b4a3928')
  assert.equal(linkIn(mail({ html: '<a href="javascript:alert(1)">Sign in</a>' }), hosts), undefined)
})

const wanted: WantedMail = {
  kind: 'code',
  domain: 'login.harbour.example',
  allowedDomains: [],
  linkHosts: hosts,
  length: undefined,
  isNumeric: false,
  since: new Date(0),
  used: [],
  timeoutMs: 1,
}

test('only a mail from the website, or one that names it, and only to the address', () => {
  const text = 'Your verification code is 483920'
  const from = (address: string, more: RawMail = {}) => [
    toMail({ from: { address }, subject: 'Code', text, ...more }),
  ]
  const found = { kind: 'code', code: '483920' }
  assert.deepEqual(findIn(from('a@mail.harbour.example'), wanted), found)
  assert.equal(findIn(from('a@evil.example'), wanted), undefined)
  assert.equal(findIn(from('a@harbour.example.evil.example'), wanted), undefined)
  assert.deepEqual(findIn(from('a@sender.example', { subject: 'Your Harbour code' }), wanted), found)
  const toAda = { ...wanted, address: 'Ada@home.example' }
  assert.equal(findIn(from('a@harbour.example', { to: ['bob@home.example'] }), toAda), undefined)
  assert.deepEqual(findIn(from('a@harbour.example', { to: ['ADA@home.example'] }), toAda), found)
  assert.equal(findIn(from('a@harbour.example'), { ...wanted, used: ['483920'] }), undefined)
})

test('a mail that is made to be slow is read quickly', () => {
  const started = performance.now()
  for (const html of [
    '<a '.repeat(100_000),
    '<'.repeat(300_000),
    `<a href="${'x'.repeat(300_000)}`,
    '<!--'.repeat(80_000),
    '1 '.repeat(150_000),
    'A1-'.repeat(100_000),
    '&#'.repeat(150_000),
  ]) {
    const read = mail({ html, text: html, subject: html })
    codeIn(read)
    linkIn(read, hosts)
  }
  assert.ok(performance.now() - started < 5_000)
})
