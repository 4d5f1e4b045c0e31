import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EgressRefusal } from './refusal.ts'
import { hostHeader, readConnectTarget, readHttpTarget } from './target.ts'

const spellings: Record<string, string> = {
  'example.com': 'example.com',
  'EXAMPLE.com.': 'example.com',
  'localhost.': 'localhost',
  'bücher.example': 'xn--bcher-kva.example',
  '127.0.0.1': '127.0.0.1',
  '127.0.0.1.': '127.0.0.1',
  '2130706433': '127.0.0.1',
  '0x7f.1': '127.0.0.1',
  '0x7F000001': '127.0.0.1',
  '0177.0.0.1': '127.0.0.1',
  '017700000001': '127.0.0.1',
  '127.1': '127.0.0.1',
  '0': '0.0.0.0',
  '①②⑦.⓪.⓪.①': '127.0.0.1',
  '１２７.０.０.１': '127.0.0.1',
  '127。0。0。1': '127.0.0.1',
  '127．0．0．1': '127.0.0.1',
  '%31%32%37.0.0.1': '127.0.0.1',
  '127%2E0%2E0%2E1': '127.0.0.1',
  '%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1': '127.0.0.1',
  'ⓛocalhost': 'localhost',
  '[::1]': '::1',
  '[0:0:0:0:0:0:0:1]': '::1',
  '[::ffff:127.0.0.1]': '::ffff:7f00:1',
  '[::127.0.0.1]': '::7f00:1',
  '[64:ff9b::169.254.169.254]': '64:ff9b::a9fe:a9fe',
}

test('every notation of a host becomes its canonical form, in CONNECT and in URLs', () => {
  for (const [spelling, host] of Object.entries(spellings)) {
    assert.deepEqual(readConnectTarget(`${spelling}:443`), { host, port: 443 }, spelling)
    assert.deepEqual(readHttpTarget(`http://${spelling}/a?b`), { host, port: 80, path: '/a?b' }, spelling)
  }
})

test('a URL keeps its path and query as they were sent', () => {
  assert.equal(readHttpTarget('http://a.example').path, '/')
  assert.equal(readHttpTarget('HTTP://a.example?x=http://b/').path, '/?x=http://b/')
  assert.equal(readHttpTarget('http://a.example/a/../b//%2e%2E/ü@c:1\\').path, '/a/../b//%2e%2E/ü@c:1\\')
  assert.equal(readHttpTarget('http://a.example:8080/').port, 8080)
})

function codeFor(read: () => unknown): string {
  try {
    return JSON.stringify(read())
  } catch (error) {
    assert.ok(error instanceof EgressRefusal)
    assert.doesNotMatch(error.message, /secret/)
    return error.code
  }
}

test('a malformed host or port is a bad request', () => {
  for (const authority of [
    '',
    ':443',
    'a.example',
    'a.example:',
    'a.example:0',
    'a.example:65536',
    'a.example:123456',
    'a.example:-1',
    'a.example:+80',
    'a.example:0x50',
    'a.example:4 43',
    'a b:443',
    'a\t:443',
    'a?b:443',
    'a#b:443',
    'a%00:443',
    'a..example:443',
    '.:443',
    '..:443',
    '[::1:443',
    '::1:443',
    '[::1]443',
    '[::1%25eth0]:443',
    '[]:443',
    '[v1.a]:443',
    '1.2.3.4.5:443',
    '256.256.256.256:443',
    'a.0x7f:443',
    '[[::1]]:443',
    'a:1:2',
    'a%2Fb:443',
    'a%40b:443',
    `${'a'.repeat(64)}.example:443`,
    `${'a.'.repeat(127)}example:443`,
    'a<b:443',
    'a|b:443',
    '%:443',
  ]) {
    assert.equal(
      codeFor(() => readConnectTarget(authority)),
      'bad_request',
      authority,
    )
  }
  for (const url of [
    '',
    '/',
    '/path',
    '*',
    'a.example:80',
    'http://',
    'http:///path',
    'http://a.example:/',
    'http://unix:/var/run/some.sock',
    'http://%2Fvar%2Frun%2Fsome.sock/',
    'http://?x',
    'http://a.example/ x',
  ]) {
    const code = codeFor(() => readHttpTarget(url))
    assert.ok(code === 'bad_request' || code === 'egress_denied', `${url} ${code}`)
  }
})

test('a user, a path and any other scheme are denied, and not repeated', () => {
  for (const authority of [
    'user@a.example:443',
    'user:secret@a.example:443',
    '@a.example:443',
    'a.example:1@127.0.0.1:443',
    '/var/run/secret.sock',
    '/var/run/secret.sock:1',
    'unix:/var/run/secret.sock',
    'a\\@127.0.0.1:443',
  ]) {
    assert.equal(
      codeFor(() => readConnectTarget(authority)),
      'egress_denied',
      authority,
    )
  }
  for (const url of [
    'http://user:secret@a.example/',
    'http://a.example\\@127.0.0.1/',
    'http://127.0.0.1\\.a.example/',
    'unix:///var/run/secret.sock',
    'http+unix://secret/',
    'https://a.example/',
    'ws://a.example/',
    'file:///etc/secret',
    'gopher://a.example/',
    'http:a.example',
    'http:/a.example/',
    'http:\\\\a.example',
  ]) {
    assert.equal(
      codeFor(() => readHttpTarget(url)),
      'egress_denied',
      url,
    )
  }
})

test('the Host header names the port only if it is not the default', () => {
  assert.equal(hostHeader({ host: 'a.example', port: 80 }), 'a.example')
  assert.equal(hostHeader({ host: 'a.example', port: 443 }), 'a.example:443')
  assert.equal(hostHeader({ host: '::1', port: 8080 }), '[::1]:8080')
})
