import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseProxyProviders } from '../../config/parsers/proxy-providers.ts'
import { Providers } from './providers.ts'

const parse = (file: object) => new Providers(parseProxyProviders(JSON.stringify(file)))

const providers = parse({
  datacenter: [
    { url: 'http://us.example:8000', where: { country: 'US' } },
    { url: 'socks5://[2001:db8::1]:1080', where: { country: 'DE' } },
  ],
  isp: { url: 'http://10.0.0.7:3128', username: 'u', password: 'p' },
  residential: {
    url: 'https://gate.example:7000',
    username: 'acct-cc-{country}[-st-us_{state}][-city-{city}]',
    password: 'p[w]{x}[_asn-{ASN}]',
  },
})

test('find returns the first upstream that supports all requested fields', () => {
  const { username: _none, ...rest } = providers.find('datacenter', { country: 'DE' })!
  assert.deepEqual(rest, { protocol: 'socks5', host: '2001:db8::1', port: 1080, isOperators: true })
  assert.equal(providers.find('datacenter', { country: 'us' })!.host, 'us.example')
  assert.equal(providers.find('datacenter', {})!.host, 'us.example', 'any will do')
  assert.equal(providers.find('datacenter', { country: 'FR' }), undefined)
  assert.equal(providers.find('isp', {})!.host, '10.0.0.7', 'the operator may name any address')
  assert.equal(providers.find('isp', { country: 'US' }), undefined, 'nobody would tell it the country')
  assert.equal(providers.find('mobile', {}), undefined)
  assert.equal(providers.stealthDefault, undefined)
})

function filled(config: object) {
  const { username, password } = providers.find('residential', config) ?? {}
  return [username, password]
}

test('requested fields are filled into user name and password, and others are left out', () => {
  assert.deepEqual(filled({ country: 'US' }), ['acct-cc-us', 'p[w]{x}'])
  assert.deepEqual(filled({ country: 'US', state: 'NY', city: 'newyork' }), [
    'acct-cc-us-st-us_ny-city-newyork',
    'p[w]{x}',
  ])
  assert.deepEqual(filled({ country: 'DE', asn: '3320' }), ['acct-cc-de', 'p[w]{x}_asn-3320'])
  assert.deepEqual(filled({}), [undefined, undefined], 'it needs a country')
})

test('shortcoming names the missing field', () => {
  assert.deepEqual(providers.shortcoming('isp', { country: 'US' }), { field: 'country', choices: [] })
  assert.deepEqual(providers.shortcoming('datacenter', { country: 'FR' }), {
    field: 'country',
    choices: ['country'],
  })
  assert.deepEqual(providers.shortcoming('residential', { country: 'US', zip: '10001' }).field, 'zip')
  assert.deepEqual(providers.shortcoming('residential', {}), {
    field: 'country',
    choices: ['country', 'state', 'city', 'asn'],
  })
})
