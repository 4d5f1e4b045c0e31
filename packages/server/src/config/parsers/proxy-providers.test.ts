import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseProxyProviders } from './proxy-providers.ts'

test('a malformed file is refused, and the message repeats none of its secrets', () => {
  for (const text of [
    '{"isp": {"url": "http://h:1", "password": "hush-hush"',
    '[]',
    '"hush-hush"',
    '{"vpn": {"url": "http://h:1"}}',
    '{"isp": {"url": "hush-hush"}}',
    '{"isp": {"url": "http://u:hush-hush@h:1"}}',
    '{"isp": {"url": "ftp://h:1"}}',
    '{"isp": {"url": "http://h"}}',
    '{"isp": {"url": "http://h:1/path"}}',
    '{"isp": {"url": "http://h:99999"}}',
    '{"isp": {"password": "hush-hush"}}',
    '{"isp": {"url": "http://h:1", "password": ["hush-hush"]}}',
    '{"isp": {"url": "http://h:1", "pasword": "hush-hush"}}',
    '{"isp": {"url": "http://h:1", "where": {"planet": "hush-hush"}}}',
    '{"isp": {"url": "http://h:1", "where": {"country": 7}}}',
    '{"isp": ["hush-hush"]}',
  ]) {
    assert.throws(
      () => parseProxyProviders(text),
      (error: Error) => !error.message.includes('hush-hush'),
      text,
    )
  }
})
