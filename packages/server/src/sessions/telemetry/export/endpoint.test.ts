import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EgressPolicy } from '../../../instances/egress/policy.ts'
import { checkAddress, checkEndpoint, logsPathOf, targetOf } from './endpoint.ts'

test('an endpoint is the base URL of a collector', () => {
  for (const [text, path] of [
    ['https://collector.example', '/v1/logs'],
    ['http://collector.example:4318/', '/v1/logs'],
    ['https://collector.example/otlp/', '/otlp/v1/logs'],
    ['https://collector.example/v1/logs/of/mine', '/v1/logs/of/mine/v1/logs'],
  ] as const) {
    assert.equal(logsPathOf(checkEndpoint(text)), path)
  }
  for (const [text, message] of [
    ['collector.example:4318', /http or https/],
    ['ftp://collector.example', /http or https/],
    ['https://', /http or https/],
    ['https://me:secret@collector.example', /headers/],
    ['https://collector.example/?key=1', /query/],
    ['https://collector.example/?', /query/],
    ['https://collector.example/#here', /fragment/],
    ['https://collector.example/v1/logs', /without \/v1\/logs/],
    ['https://collector.example/otlp/v1/traces/', /without \/v1\/traces/],
    ['https://collector.example/V1/Metrics', /without/],
  ] as const) {
    assert.throws(() => checkEndpoint(text), message, text)
  }
})

test('the port follows from the scheme', () => {
  assert.deepEqual(targetOf(new URL('https://a.example')), { host: 'a.example', port: 443 })
  assert.deepEqual(targetOf(new URL('http://[2606:4700::1]')), { host: '2606:4700::1', port: 80 })
})

const lookup = (name: string) =>
  Promise.resolve({ 'in.example': ['10.1.2.3'], 'out.example': ['1.1.1.1'] }[name] ?? [])

test('only public addresses, and what the operator allows', async () => {
  const never = new AbortController().signal
  const check = (text: string, allow: string[] = []) =>
    checkAddress(
      new URL(text),
      { policy: new EgressPolicy({ allow, ownAddresses: () => new Set() }), lookup },
      never,
    )
  await check('https://out.example')
  await check('https://1.1.1.1:4318')
  await check('http://in.example:4318', ['in.example:4318'])
  await check('http://in.example:4318', ['10.0.0.0/8'])
  await check('http://127.0.0.1:4318', ['127.0.0.0/8'])
  for (const text of [
    'http://in.example:4318',
    'http://127.0.0.1:4318',
    'http://localhost:4318',
    'http://[::1]:4318',
    'http://[::ffff:10.0.0.1]:4318',
    'http://169.254.169.254',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://out.example:25',
  ]) {
    await assert.rejects(check(text), /cannot be used: .*BERTH_TELEMETRY_EXPORT_ALLOW/, text)
  }
  await assert.rejects(check('http://nowhere.example'), /cannot be used: Cannot resolve/)
})
