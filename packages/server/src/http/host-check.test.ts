import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../config/config.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { newHostCheck } from './host-check.ts'

function codeFor(env: Record<string, string>, host: string | undefined): string {
  try {
    newHostCheck(loadConfig(env))(host)
    return 'ok'
  } catch (error) {
    return (error as AppError).code
  }
}

test('a loopback server answers for loopback names and addresses in their usual spellings', () => {
  for (const host of [
    'localhost',
    'LOCALHOST:8080',
    '127.0.0.1:8080',
    '127.1.2.3',
    '[::1]:80',
    'a.localhost',
  ]) {
    assert.equal(codeFor({}, host), 'ok', host)
  }
})

test('any other host name is refused as misdirected', () => {
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    '192.168.1.1',
    '[fe80::1]',
    '127.0.0.1.evil.com',
  ]) {
    assert.equal(codeFor({}, host), 'misdirected_request', host)
  }
})

test('a missing or malformed Host header is a bad request', () => {
  for (const host of [undefined, '', 'a b', 'a/b', 'a@b', 'x'.repeat(300)]) {
    assert.equal(codeFor({}, host), 'bad_request', host)
  }
})

test('the hosts of the public URL and of BERTH_ALLOWED_HOSTS are accepted', () => {
  const env = { BERTH_PUBLIC_URL: 'https://berth.example:8443', BERTH_ALLOWED_HOSTS: 'inner.example, other' }
  for (const host of ['berth.example', 'berth.example:8443', 'Inner.Example:1', 'other']) {
    assert.equal(codeFor(env, host), 'ok', host)
  }
})

test('the host at which other servers reach this one is accepted', () => {
  const env = { BERTH_INTERNAL_URL: 'http://berth-2.internal:8080' }
  assert.equal(codeFor(env, 'berth-2.internal:8080'), 'ok')
  assert.equal(codeFor(env, 'berth-3.internal:8080'), 'misdirected_request')
})

test('a server on all addresses accepts any literal IP address, which cannot be rebound', () => {
  assert.equal(codeFor({ BERTH_HOST: '0.0.0.0' }, '192.168.1.1:8080'), 'ok')
  assert.equal(codeFor({ BERTH_HOST: '0.0.0.0' }, 'evil.example'), 'misdirected_request')
})
