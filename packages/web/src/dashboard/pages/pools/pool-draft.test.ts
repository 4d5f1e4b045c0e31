import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import { changesBetween, draftOf, emptyPoolDraft, poolRequestOf } from './pool-draft.ts'

test('a pool needs a size, and has only what differs from the defaults', () => {
  assert.deepEqual(Object.keys(poolRequestOf(emptyPoolDraft).problems), ['size'])
  const { request, problems } = poolRequestOf({ ...emptyPoolDraft, size: '5', proxy: 'id:px', name: 'shop' })
  assert.deepEqual(
    { request, problems },
    { request: { size: 5, name: 'shop', headless: true, proxy_id: 'px' }, problems: {} },
  )
})

test('an edit sends what has changed, and how each setting is removed', () => {
  const pool = {
    region: 'eu',
    extension_ids: ['e1'],
    browser_pool_config: {
      size: 5,
      name: 'shop',
      headless: true,
      start_url: 'https://example.com',
      profile: { name: 'p' },
      network: { private_hosts: ['10.0.0.1'] },
    },
  } as unknown as BrowserPool
  const draft = draftOf(pool)
  const before = poolRequestOf(draft).request
  assert.deepEqual(changesBetween(before, before), {})
  const after = poolRequestOf({
    ...draft,
    size: '6',
    headless: false,
    startUrl: '',
    profile: '',
    extensions: [],
    hasPrivateHosts: false,
  }).request
  assert.deepEqual(changesBetween(before, after), {
    size: 6,
    headless: false,
    start_url: '',
    profile: { id: '' },
    extensions: [],
    network: {},
  })
})
