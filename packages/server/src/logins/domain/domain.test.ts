import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDomain } from './domain.ts'

const domains: [text: string, domain: string][] = [
  ['example.com', 'example.com'],
  ['  Example.COM. ', 'example.com'],
  ['https://GitHub.com/login?a=b#c', 'github.com'],
  ['http://github.com', 'github.com'],
  ['github.com/login', 'github.com'],
  ['https://medium.com/@somebody', 'medium.com'],
  ['intranet.example:8443', 'intranet.example:8443'],
  ['https://intranet.example:443', 'intranet.example'],
  ['intranet.example:80', 'intranet.example'],
  ['localhost:3000', 'localhost:3000'],
  ['127.0.0.1:8080', '127.0.0.1:8080'],
  ['0x7f.1', '127.0.0.1'],
  ['[::1]:8080', '[::1]:8080'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['my_host', 'my_host'],
]

for (const [text, domain] of domains) {
  test(`"${text}" belongs to ${domain}`, () => assert.equal(readDomain(text), domain))
}

const none = [
  '',
  ' ',
  'a b',
  '*.example.com',
  '*',
  'evil.example@bank.example',
  'https://evil.example:pw@bank.example/',
  'ftp://example.com',
  'javascript://example.com',
  'example..com',
  '-example.com',
  '.',
  'example.com:99999',
  'a'.repeat(254),
  '%00.example',
]

for (const text of none) {
  test(`"${text.slice(0, 40)}" is not a domain`, () => assert.equal(readDomain(text), undefined))
}
