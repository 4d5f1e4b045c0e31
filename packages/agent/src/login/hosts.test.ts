import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOfHosts } from './hosts.ts'

const cases: readonly (readonly [origin: string, host: string, isOne: boolean])[] = [
  ['https://a.example', 'a.example', true],
  ['https://a.example:8443', 'a.example', true],
  ['https://a.example', 'A.Example', true],
  ['https://a.example', 'a.example:443', true],
  ['http://a.example', 'a.example:80', true],
  ['http://a.example', 'a.example:443', false],
  ['https://a.example:8443', 'a.example:8443', true],
  ['https://a.example:8444', 'a.example:8443', false],
  ['https://b.a.example', 'a.example', false],
  ['https://b.a.example', '*.a.example', true],
  ['https://c.b.a.example:8443', '*.a.example:8443', true],
  ['https://a.example', '*.a.example', false],
  ['https://evila.example', '*.a.example', false],
  ['https://a.example.evil.test', 'a.example', false],
  ['https://a.example.evil.test', '*.a.example', false],
  ['http://[::1]:8080', '[::1]:8080', true],
  ['http://[::1]:8080', '[::1]', true],
  ['http://127.0.0.1:1', '*.0.0.1', false],
  ['null', 'null', false],
  ['://', '', false],
  ['file://', '', false],
  ['chrome-extension://a.example', 'a.example', false],
  ['https://a.example', '', false],
  ['https://a.example', '*', false],
  ['https://a.example', '*.', false],
  ['https://a.example', '*.example:x', false],
]

for (const [origin, host, isOne] of cases) {
  test(`${origin} is ${isOne ? '' : 'not '}of ${host || 'nothing'}`, () => {
    assert.equal(isOfHosts(origin, [host]), isOne)
    assert.equal(isOfHosts(origin, ['other.example', host]), isOne)
    assert.equal(isOfHosts(origin, []), false)
  })
}
