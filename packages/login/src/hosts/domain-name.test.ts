import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAllowedDomain, readDomain, type DomainReading } from './domain-name.ts'

const domainOf = (reading: DomainReading) => ('domain' in reading ? reading.domain : undefined)

test('readDomain gives every host one spelling', () => {
  const spellings: Record<string, string> = {
    'example.com': 'example.com',
    'Example.COM': 'example.com',
    'example.com.': 'example.com',
    'login.example.com': 'login.example.com',
    'example.com:443': 'example.com',
    'example.com:80': 'example.com',
    'example.com:8443': 'example.com:8443',
    'bücher.de': 'xn--bcher-kva.de',
    'xn--bcher-kva.de': 'xn--bcher-kva.de',
    intranet: 'intranet',
    localhost: 'localhost',
    'localhost:3000': 'localhost:3000',
    'app.localhost:3000': 'app.localhost:3000',
    '127.0.0.1:3000': '127.0.0.1:3000',
    '[::1]:3000': '[::1]:3000',
    'someone.github.io': 'someone.github.io',
  }
  for (const [written, domain] of Object.entries(spellings)) {
    assert.equal(domainOf(readDomain(written)), domain, written)
  }
})

test('readDomain rejects everything that is not exactly one host, and lookalikes', () => {
  const refused = [
    '',
    '.',
    '..',
    'https://example.com',
    'javascript://example.com',
    'example.com/login',
    'example.com\\login',
    'evil.com@bank.com',
    'user:secret@bank.com',
    'example.com?x',
    'example.com#x',
    'exam ple.com',
    'example..com',
    '*.com',
    '*.example.com',
    '*',
    'com',
    'co.uk',
    'github.io',
    'example.com:99999',
    'example.com:x',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    'exa%6dple.com',
    // A Cyrillic letter among Latin letters, and the same name in Punycode.
    'p\u0430ypal.com',
    'xn--pypal-4ve.com',
    'gith\u03c5b.com',
    '\u2460\u2461\u2466.0.0.1',
    'exa\u200bmple.com',
    'exam\u00adple.com',
    '\uff45xample.com',
    'example\u3002com',
  ]
  for (const written of refused) assert.equal(domainOf(readDomain(written)), undefined, written)
})

test('readAllowedDomain drops a leading wildcard or www., but only before a registrable domain', () => {
  assert.equal(domainOf(readAllowedDomain('*.example.com')), 'example.com')
  assert.equal(domainOf(readAllowedDomain('*.login.example.co.uk')), 'login.example.co.uk')
  assert.equal(domainOf(readAllowedDomain('sso.example.net')), 'sso.example.net')
  assert.equal(domainOf(readAllowedDomain('WWW.example.com:8443')), 'example.com:8443')
  assert.equal(domainOf(readAllowedDomain('www.github.io')), 'www.github.io')
  assert.equal(domainOf(readAllowedDomain('www.com')), 'www.com')
  assert.equal(domainOf(readAllowedDomain('www.localhost')), 'www.localhost')
  const refused = [
    '*.com',
    '*.co.uk',
    '*.github.io',
    '*.localhost',
    '*.127.0.0.1',
    '*',
    '*.*.example.com',
    'a.*.com',
  ]
  for (const written of refused) assert.equal(domainOf(readAllowedDomain(written)), undefined, written)
})
