import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPartyOf } from './passkeys.ts'

const cases: readonly (readonly [rpId: string, hosts: readonly string[], isOne: boolean])[] = [
  ['example.com', ['example.com', '*.example.com'], true],
  ['login.example.com', ['example.com', '*.example.com'], true],
  ['example.com', ['login.example.com:8443'], true],
  ['example.com', ['*.login.example.com'], true],
  ['site.localhost', ['site.localhost:3000'], true],
  ['example.org', ['example.com', '*.example.com'], false],
  ['badexample.com', ['example.com', '*.example.com'], false],
  ['ample.com', ['example.com'], false],
  ['sub.site.localhost', ['site.localhost:3000'], false],
  ['', ['example.com'], false],
]
for (const [rpId, hosts, isOne] of cases) {
  test(`pages of ${hosts.join(', ')} ${isOne ? 'can' : 'cannot'} belong to "${rpId}"`, () => {
    assert.equal(isPartyOf(rpId, hosts), isOne)
  })
}
