import assert from 'node:assert/strict'
import test from 'node:test'
import { allowedHosts, isOf, ownHosts } from './hosts.ts'

test('a domain matches itself and its subdomains, and nothing else', () => {
  const hosts = ownHosts('example.com')
  for (const good of [
    'https://example.com/',
    'https://login.example.com/x',
    'http://a.b.example.com:8080/',
  ]) {
    assert.ok(isOf(good, hosts), good)
  }
  for (const bad of [
    'https://example.com.evil.example/',
    'https://evilexample.com/',
    'https://example.com@evil.example/',
    'https://exаmple.com/',
    'data:text/html,example.com',
    'javascript:example.com',
    '',
  ]) {
    assert.ok(!isOf(bad, hosts), bad)
  }
})

test('a subdomain matches its whole registrable domain', () => {
  assert.ok(isOf('https://accounts.example.co.uk/', ownHosts('app.example.co.uk')))
  assert.ok(!isOf('https://other.co.uk/', ownHosts('app.example.co.uk')))
})

test('a domain below a shared suffix such as github.io matches only itself', () => {
  assert.ok(isOf('https://ada.github.io/', ownHosts('ada.github.io')))
  assert.ok(!isOf('https://bob.github.io/', ownHosts('ada.github.io')))
})

test('IP addresses and local names match only themselves, including a given port', () => {
  assert.deepEqual(ownHosts('127.0.0.1'), ['127.0.0.1'])
  assert.deepEqual(ownHosts('shop.localhost:3000'), ['shop.localhost:3000'])
  assert.ok(!isOf('http://shop.localhost:3001/', ownHosts('shop.localhost:3000')))
  assert.ok(!isOf('http://other.localhost:3000/', ownHosts('shop.localhost:3000')))
  assert.ok(isOf('http://[::1]:3000/', ownHosts('[::1]:3000')))
})

test('a too wide pattern, and a name with a user part, allow nothing', () => {
  for (const wide of ['*.com', '*', 'com', 'evil.example@bank.example', '']) {
    const hosts = allowedHosts('example.com', [wide])
    assert.ok(!isOf('https://evil.com/', hosts), wide)
    assert.ok(!isOf('https://evil.example/', hosts), wide)
    assert.ok(!isOf('https://bank.example/', hosts), wide)
  }
})

test('the usual identity providers are allowed, lookalikes are not', () => {
  const hosts = allowedHosts('example.com', [])
  assert.ok(isOf('https://accounts.google.com/signin', hosts))
  assert.ok(isOf('https://acme.okta.com/', hosts))
  assert.ok(!isOf('https://accounts.google.com.evil.example/', hosts))
  assert.ok(!isOf('https://okta.com.evil.example/', hosts))
})
