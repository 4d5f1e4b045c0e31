import assert from 'node:assert/strict'
import { test } from 'node:test'
import { derivedScope, expandScopes, scopeFamilies, scopes, scopesBeyond } from './scopes.ts'

test('a key hands on exactly what it has', () => {
  for (const own of scopes) {
    const beyond = scopes.filter((wanted) => scopesBeyond([wanted], [own]).length > 0)
    const [family, access] = own.split(':')
    const expected = scopes.filter((wanted) => {
      if (own === 'read') return wanted.endsWith(':write')
      return wanted !== own && !(access === 'write' && wanted === `${family}:read`)
    })
    assert.deepEqual(beyond, expected, own)
  }
})

test('only a key without limits hands on everything', () => {
  assert.deepEqual(scopesBeyond(null, null), [])
  assert.deepEqual(scopesBeyond(scopes, null), [])
  assert.equal(scopesBeyond(null, scopes), 'everything')
})

test('the reading of every family is the same as read', () => {
  const all = scopeFamilies.map((family) => `${family}:read` as const)
  assert.deepEqual(scopesBeyond(['read'], all), [])
  assert.deepEqual(scopesBeyond(['read'], all.slice(1)), ['read'])
  assert.deepEqual(expandScopes(['read']), new Set(all))
})

test('an operation of an unknown family is for keys without limits', () => {
  assert.equal(derivedScope({ tag: 'Made up', effect: 'read' }), null)
  assert.equal(derivedScope({ tag: 'Files', effect: 'control' }), 'browsers:write')
})
