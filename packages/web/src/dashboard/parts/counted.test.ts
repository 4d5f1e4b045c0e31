import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted } from './counted.ts'

test('rows are counted in words', () => {
  assert.equal(counted(1, 'Proxies'), '1 proxy')
  assert.equal(counted(1, 'App versions'), '1 app version')
  assert.equal(counted(12, 'API keys'), '12 API keys')
  assert.equal(counted(1_200, 'Sessions'), '1,200 sessions')
  assert.equal(counted(100, 'Profiles', { hasMore: true }), '100+ profiles')
})
