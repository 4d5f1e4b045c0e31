import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from './config-error.ts'
import { loadConfig } from './config.ts'
import { helpText } from './help.ts'
import { isLoopback } from './loopback.ts'
import { groups, settings } from './settings/settings.ts'

const refused = (env: Record<string, string>, pattern: RegExp) =>
  assert.throws(
    () => loadConfig(env),
    (error) => error instanceof ConfigError && pattern.test(error.message),
  )

test('loadConfig() has a value for every setting without any environment', () => {
  const config = loadConfig({})
  assert.equal(config.BERTH_HOST, '127.0.0.1')
  assert.equal(config.BERTH_PORT, 8080)
  assert.equal(config.BERTH_PUBLIC_URL, undefined)
  assert.deepEqual(config.BERTH_EGRESS_ALLOW, [])
  assert.equal(config.BERTH_ALLOW_WEAK_ISOLATION, false)
})

test('loadConfig() names each wrong setting and what it wants', () => {
  refused({ BERTH_PORT: '70000' }, /BERTH_PORT must be a whole number from 0 to 65535, but is "70000"/)
  refused({ BERTH_PORT: '8080x' }, /BERTH_PORT must be a whole number/)
  refused({ BERTH_LOG_LEVEL: 'loud' }, /BERTH_LOG_LEVEL must be one of debug, info/)
  refused({ BERTH_PUBLIC_URL: 'example.com' }, /BERTH_PUBLIC_URL must be an http or https URL/)
  refused({ BERTH_PUBLIC_URL: 'https://example.com/path' }, /must be only a scheme, host and port/)
  refused({ BERTH_TRUSTED_PROXIES: '10.0.0.0/8,proxy' }, /BERTH_TRUSTED_PROXIES .* has "proxy"/)
  refused({ BERTH_EGRESS_ALLOW: '10.0.0.0/33' }, /BERTH_EGRESS_ALLOW .* has "10.0.0.0\/33"/)
  refused(
    { BERTH_EGRESS_ALLOW: '10.0.0.0/8,127.0.0.1:3000' },
    /BERTH_EGRESS_ALLOW has "127.0.0.1:3000", .* list host.berth.internal:3000/,
  )
  refused({ BERTH_EGRESS_ALLOW: 'localhost:*' }, /list host.berth.internal:\*/)
  refused({ BERTH_DNS_SERVERS: '1.1.1.1,dns.example' }, /BERTH_DNS_SERVERS .* has "dns.example"/)
  refused({ BERTH_DNS_SERVERS: '1.1.1.1:0' }, /BERTH_DNS_SERVERS .* has "1.1.1.1:0"/)
  refused({ BERTH_MASTER_KEY: 'short' }, /BERTH_MASTER_KEY must be 32 bytes in base64/)
  refused({ BERTH_API_KEY: 'with space in it' }, /BERTH_API_KEY must be 8 to 200 visible/)
  refused(
    { BERTH_TLS_CERT: '/x.pem' },
    /BERTH_TLS_CERT must name a readable file, but "\/x.pem" gives ENOENT/,
  )
  refused({ BERTH_TLS_CERT: '/dev/null' }, /BERTH_TLS_CERT and BERTH_TLS_KEY must be set together/)
  refused({ BERTH_TLS_CERT: '/dev/null', BERTH_TLS_KEY: '/dev/null' }, /do not work together/)
})

test('loadConfig() reports all wrong settings at once', () => {
  refused(
    { BERTH_PORT: 'x', BERTH_HOST: '::1', BERTH_WARM_HEADLESS: '-1' },
    /BERTH_PORT[^]*BERTH_WARM_HEADLESS/,
  )
})

test('loadConfig() refuses an unknown BERTH_ variable and suggests the closest setting', () => {
  refused({ BERTH_PROT: '80' }, /BERTH_PROT is not a setting; did you mean BERTH_PORT\?/)
  refused({ BERTH_COLOUR: 'blue' }, /BERTH_COLOUR is not a setting/)
})

test('loadConfig() accepts test variables only in a test', () => {
  for (const name of ['BERTH_CRASH_AT']) {
    refused({ [name]: 'x' }, new RegExp(`${name} is not a setting`))
    refused({ [name]: 'x', NODE_ENV: 'production' }, new RegExp(`${name} is not a setting`))
    loadConfig({ [name]: 'x', NODE_ENV: 'test' })
  }
})

test('loadConfig() keeps only the environment variables that host programs need', () => {
  const env = { PATH: '/bin', HOME: '/root', SECRET: 'x' }
  assert.deepEqual(loadConfig(env).hostEnvironment, { PATH: '/bin', HOME: '/root' })
})

test('loadConfig() refuses a weak key beyond loopback', () => {
  refused({ BERTH_HOST: '0.0.0.0', BERTH_API_KEY: 'short-key' }, /BERTH_API_KEY must have at least 24/)
  assert.equal(loadConfig({ BERTH_API_KEY: 'short-key' }).BERTH_API_KEY, 'short-key')
})

test('loadConfig() does not repeat a password in its message', () => {
  assert.throws(
    () => loadConfig({ DATABASE_URL: 'mysql://user:hunter2@host/db' }),
    (error: Error) =>
      /DATABASE_URL must start with postgres/.test(error.message) && !/hunter2/.test(error.message),
  )
})

test('helpText() explains every setting with its default', () => {
  const text = helpText()
  for (const name of Object.keys(settings)) assert.match(text, new RegExp(`^  ${name}$`, 'm'))
  assert.match(text, /BERTH_PORT\n.*\n +Default: 8080/)
  assert.match(text, /BERTH_LEASE_SECONDS\n.*\n +Default: 20 seconds/)
})

test('every setting is in one group of the help text', () => {
  const grouped = groups.flatMap((group) => Object.keys(group.settings))
  assert.deepEqual(grouped, Object.keys(settings))
})

test('isLoopback() knows every loopback address', () => {
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) assert.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com']) assert.ok(!isLoopback(host), host)
})
