import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openedUrl, toStartUrl } from './start-url.ts'

test('a website, a document in the address and the empty page are opened', () => {
  for (const url of ['https://example.com/a?b#c', 'data:text/html,x', 'about:blank']) {
    assert.equal(openedUrl(url), url)
  }
  assert.equal(openedUrl(' HTTP://Example.com\r\n'), 'http://example.com/')
})

test('everything else is dropped', () => {
  const dropped = [
    undefined,
    null,
    '',
    'not a url',
    'example.com',
    '--no-sandbox',
    'chrome://version',
    'CHROME:version',
    'chrome-untrusted://print',
    'devtools://devtools/bundled/inspector.html',
    'file:///etc/passwd',
    'view-source:file:///etc/passwd',
    'filesystem:https://example.com/temporary/x',
    'javascript:alert(1)',
    'about:settings',
    'about:blank#x',
    'https://',
    `https://example.com/${'ä'.repeat(20_000)}`,
    toStartUrl(`https://example.com/${'x'.repeat(70_000)}`),
  ]
  for (const text of dropped) assert.equal(openedUrl(text), undefined, String(text))
})

test('the requested text is kept as far as it can be stored', () => {
  assert.equal(toStartUrl(undefined), null)
  assert.equal(toStartUrl(''), null)
  assert.equal(toStartUrl('not a url'), 'not a url')
  assert.equal(toStartUrl('a\0b\u{d800}c\n'), 'a\u{fffd}b\u{fffd}c\n')
  assert.equal(toStartUrl('😀'.repeat(40_000))!.length, 65_536)
  assert.ok(toStartUrl(`x${'😀'.repeat(40_000)}`)!.isWellFormed())
})
