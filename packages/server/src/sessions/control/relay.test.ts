import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { relay } from '@berth/contracts/link'
import { relayedAnswer, relayedHeaders } from './relay.ts'

function answerOf(headers: Record<string, string>): ReturnType<typeof relayedAnswer> {
  const named = Object.entries(headers).map(([name, value]) => [relay.header + name, [value]])
  const answer = Object.assign(new PassThrough(), {
    headers: { [relay.status]: '200' },
    headersDistinct: Object.fromEntries(named) as Record<string, string[]>,
  })
  // SAFETY: only these parts of a message are read.
  return relayedAnswer(answer as unknown as IncomingMessage)
}

test('a relayed answer can never run on this origin, whatever the target says', () => {
  for (const given of [
    { 'content-type': 'text/html' },
    { 'content-type': 'image/svg+xml', 'content-disposition': 'inline' },
    { 'content-disposition': 'attachment-not; x' },
    { 'content-security-policy': "script-src 'unsafe-inline'", 'x-content-type-options': 'sniff' },
  ]) {
    const { headers } = answerOf(given)
    assert.equal(headers?.['content-disposition'], 'attachment')
    assert.equal([headers['content-security-policy']].flat().at(-1), "sandbox; default-src 'none'")
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
  const named = { 'content-disposition': 'attachment; filename="a.pdf"', 'set-cookie': 'a=b' }
  const { headers } = answerOf(named)
  assert.equal(headers?.['content-disposition'], named['content-disposition'])
  assert.equal(headers['set-cookie'], 'a=b', 'programs see the rest unchanged')
})

test('a request of a browser is refused, over plain HTTP too', () => {
  const host = 'berth.example:8080'
  for (const headers of [
    { 'sec-fetch-site': 'none' },
    { 'upgrade-insecure-requests': '1' },
    { origin: `http://${host}` },
    { referer: `http://${host}/docs` },
  ]) {
    assert.throws(() => relayedHeaders({ host, ...headers }), { code: 'forbidden' })
  }
  assert.deepEqual(relayedHeaders({ host, origin: 'https://target.example' }), {
    [`${relay.header}origin`]: 'https://target.example',
  })
})
