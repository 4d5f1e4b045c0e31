import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secrets } from '../secrets/secrets.ts'
import { Ring } from './ring.ts'

const REQUEST = {
  type: 'network_request',
  source: { kind: 'cdp', event: 'Network.requestWillBeSent' },
  data: {
    session_id: 'ABC123',
    request_id: '12.3',
    method: 'POST',
    url: 'https://user:p%E4ss@bank.example/p%E4ss?p=%E4',
    headers: { 'x-p\u00e4ss': 'pass' },
    post_data: '{"p":"\\u0070\\u00e4ss"}',
    args: ['p\u00e4ss', 7],
    resource_type: 'XHR',
    is_redirect: false,
  },
} as const

const told = (ring: Ring) => {
  const lines = ring.after(0).text.trimEnd().split('\n')
  return (JSON.parse(lines.at(-1)!) as { event: { source: object; data: object } }).event
}

test('once a value was typed, an event keeps only what no page can write', () => {
  const secrets = new Secrets()
  secrets.add(['päss'])
  const ring = new Ring(secrets)
  ring.emit(REQUEST)
  assert.match(JSON.stringify(told(ring)), /p%E4ss/, 'a spelling that nobody listed')
  secrets.type()
  ring.emit(REQUEST)
  assert.deepEqual(told(ring).source, REQUEST.source)
  assert.deepEqual(told(ring).data, {
    session_id: 'ABC123',
    request_id: '12.3',
    method: 'POST',
    url: 'https://bank.example/[redacted]',
    headers: {},
    post_data: '[redacted]',
    args: ['[redacted]', 7],
    resource_type: 'XHR',
    is_redirect: false,
  })
  ring.emit({ ...REQUEST, data: { method: 'PÄSS', request_id: 'päss päss' } })
  assert.deepEqual(told(ring).data, { method: '[redacted]', request_id: '[redacted]' })
})

test('a secret that is the name of a field hides no field', () => {
  const secrets = new Secrets()
  secrets.add(['url', 'source', 'data', 'cdp', 'headers'])
  const ring = new Ring(secrets)
  ring.emit({ ...REQUEST, data: { url: 'https://bank.example/url', headers: { url: 'data' } } })
  assert.deepEqual(told(ring), {
    ...told(ring),
    source: REQUEST.source,
    data: { url: 'https://bank.example/[redacted]', headers: { '[redacted]': '[redacted]' } },
  })
})
