// Rules of proxies: valid configurations, sealed secrets, the operator's proxy types, and deleting one while a
// session starts to use it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Proxy } from '@berth/contracts/proxies'
import { ServerDatabase } from '../conformance/server-database.ts'
import { newCertificate } from '../fixtures/certificates.ts'
import { programFile } from '../fixtures/programs.ts'
import { startDnsServer } from '../fixtures/dns-server.ts'
import { startProxy } from '../fixtures/proxies.ts'
import { serverEnv, startServer, tempDir } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { startWitness } from '../fixtures/witness.ts'
import { holds } from '../hostile/secret-search.ts'

const owner = { after }
const witness = await startWitness(owner)
const operators = await startProxy(owner, {
  protocol: 'socks5',
  exit: '127.0.0.41',
  username: 'acct-country-de',
  password: 'operators-secret',
})
const file = join(tempDir(owner), 'providers.json')
writeFileSync(
  file,
  JSON.stringify({
    residential: {
      url: `socks5://127.0.0.1:${operators.port}`,
      username: 'acct[-country-{country}][-city-{city}]',
      password: 'operators-secret',
    },
    datacenter: [{ url: 'http://10.0.0.7:3128', where: { country: 'US' } }],
    isp: { url: 'http://10.0.0.8:3128' },
  }),
)
const named = await startProxy(owner, { protocol: 'http', exit: '127.0.0.42' })
const dns = await startDnsServer(owner, { names: { 'named.example': ['127.0.0.1'] } })
const server = await startServer(owner, {
  env: {
    BERTH_DNS_SERVERS: dns.address,
    BERTH_EGRESS_ALLOW: `named.example:${named.port}`,
    BERTH_PROXY_PROVIDERS: file,
    BERTH_PROXY_CHECK_URLS: `http://127.0.0.1:1/,${witness.url}/ip`,
    BERTH_LOG_LEVEL: 'debug',
  },
})
const database = await ServerDatabase.open(owner, server)
const create = (body: object) => send<Proxy>(server, 'POST', '/proxies', body)
const custom = (config: object, more: object = {}) =>
  create({ type: 'custom', config: { host: 'proxy.example', port: 8080, ...config }, ...more })

test('an invalid proxy is refused by the name of its field', async () => {
  const cases: [field: string, body: object][] = [
    ['config.host', { type: 'custom' }],
    ['config.host', { type: 'custom', config: { port: 1 } }],
    ['config.port', { type: 'custom', config: { host: 'a.example' } }],
    ...[
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '①②⑦.0.0.1',
      '::1',
      '::ffff:127.0.0.1',
      '64:ff9b::a9fe:a9fe',
      'localhost',
      'localhost.',
      'a.localhost',
      '169.254.169.254',
      'fd00:ec2::254',
      '10.1.2.3',
      '100.64.0.1',
      '198.18.0.1',
      '224.0.0.1',
      '0',
      'host.berth.internal',
      'a.example/path',
      'http://a.example',
      'a.example:80',
      'u@a.example',
      'a b',
      '..',
      '/var/run/x.sock',
    ].map(
      // prettier-ignore
      (host): [string, object] => ['config.host', { type: 'custom', config: { host, port: 8080 } }],
    ),
    ['config.host', { type: 'custom', config: { host: 'a.example', port: 25 } }],
    ['config.username', { type: 'custom', config: { host: 'a.example', port: 1, password: 'secret' } }],
    ['config.username', { type: 'custom', config: { host: 'a.example', port: 1, username: 'a:b' } }],
    [
      'config.password',
      {
        type: 'custom',
        protocol: 'socks5',
        config: { host: 'a.example', port: 1, username: 'u', password: 'ü'.repeat(200) },
      },
    ],
    ['config.ca_bundle', { type: 'custom', config: { host: 'a.example', port: 1, ca_bundle: 'nonsense' } }],
    [
      'config.ca_bundle',
      { type: 'custom', config: { host: 'a.example', port: 1, ca_bundle: newCertificate('x').key } },
    ],
    ['config.country', { type: 'custom', config: { host: 'a.example', port: 1, country: 'US' } }],
    ['config.host', { type: 'datacenter', config: { host: 'a.example' } }],
    ['config.city', { type: 'datacenter', config: { city: 'berlin' } }],
    ['type', { type: 'mobile' }],
    ['config.country', { type: 'datacenter', config: { country: 'FR' } }],
    ['config.country', { type: 'isp', config: { country: 'US' } }],
    ['config.city', { type: 'residential', config: { city: 'berlin' } }],
    ['config.state', { type: 'residential', config: { country: 'DE', state: 'BE' } }],
    ['config.zip', { type: 'residential', config: { country: 'DE', zip: '10115' } }],
    ['config.zip', { type: 'residential', config: { country: 'US', city: 'newyork', zip: '10001' } }],
    ['config.asn', { type: 'residential', config: { country: 'US', city: 'newyork', asn: '1' } }],
    ['config.asn', { type: 'residential', config: { asn: 'AS3320' } }],
    ...[
      'http://a.example',
      'a.example:80',
      'a.example/x',
      '10.0.0.1',
      '127.1',
      '::1',
      '*',
      '*.*.a',
      'a.*',
      '*a.example',
      '',
    ].map(
      // prettier-ignore
      (host): [string, object] => [
        'bypass_hosts.0',
        { type: 'custom', config: { host: 'a.example', port: 1 }, bypass_hosts: [host] },
      ],
    ),
  ]
  for (const [field, body] of cases) {
    const answer = await create(body)
    const shown = `${JSON.stringify(body)}: ${answer.body.message}`
    assert.deepEqual([answer.status, answer.body.code], [400, 'bad_request'], shown)
    assert.ok(answer.body.message!.includes(`${field}: `), shown)
    assert.ok(!answer.body.message!.includes('secret'), shown)
  }
  assert.equal(await database.count('proxies'), 0)
})

test('the operator’s proxy types use their configured address, and their secrets are not shown', async () => {
  const { status, body } = await create({ type: 'residential', config: { country: 'de' } })
  assert.equal(status, 201)
  assert.deepEqual(body.config, { country: 'DE' })
  assert.equal(body.protocol, 'socks5')
  const checked = await send<Proxy>(server, 'POST', `/proxies/${body.id}/check`)
  assert.deepEqual([checked.body.status, checked.body.ip_address], ['available', operators.exit])
  assert.ok(!JSON.stringify(checked.body).includes('operators-secret'))

  const usual = await create({ type: 'datacenter' })
  assert.deepEqual(usual.body.config, { country: 'US' }, 'the default country is US')
  assert.deepEqual((await create({ type: 'isp' })).body.config, {})
})

test('passwords and user names are sealed, never shown, never logged, and deleted with the proxy', async () => {
  const password = 'a-password-worth-stealing'
  const username = 'a-name-worth-stealing'
  const made = await custom({ username, password }, { name: 'secretive' })
  assert.equal(made.status, 201)
  const { id } = made.body
  assert.deepEqual(made.body.config, {
    host: 'proxy.example',
    port: 8080,
    username,
    has_password: true,
    has_ca_bundle: false,
  })
  const repeated = { 'idempotency-key': 'once', 'content-type': 'application/json' }
  for (let time = 0; time < 2; time++) {
    const answer = await send<Proxy>(
      server,
      'POST',
      '/proxies',
      { type: 'custom', config: { host: 'proxy.example', port: 8080, username, password } },
      repeated,
    )
    assert.equal(answer.status, 201)
    assert.ok(!JSON.stringify(answer.body).includes(password))
  }
  const read = async () =>
    [
      await (await server.fetch(`/proxies/${id}`)).text(),
      await (await server.fetch('/proxies?limit=100')).text(),
      server.output(),
      await (await server.fetch('/metrics')).text(),
    ].join('\n')
  assert.ok(!holds(await read(), password))
  const rows = JSON.stringify(await database.dump())
  for (const secret of [password, username]) assert.ok(!holds(rows, secret), secret)
  const [{ credentials }] = (await database.run('SELECT credentials FROM proxies WHERE id = $1', [id])) as [
    { credentials: Buffer },
  ]
  assert.ok(credentials.length > 0)
  assert.equal((await send(server, 'DELETE', `/proxies/${id}`)).status, 204)
  const [gone] = await database.run('SELECT credentials, ca_bundle FROM proxies WHERE id = $1', [id])
  assert.deepEqual(gone, { credentials: null, ca_bundle: null })
})

test('a sealed password that was moved to another proxy does not decrypt', async () => {
  const first = (await custom({ username: 'one', password: 'first-password' })).body.id
  const second = (await custom({ username: 'two', password: 'second-password' })).body.id
  await database.run(
    'UPDATE proxies SET credentials = (SELECT credentials FROM proxies WHERE id = $1) WHERE id = $2',
    [first, second],
  )
  for (const [method, path] of [
    ['GET', `/proxies/${second}`],
    ['POST', `/proxies/${second}/check`],
  ] as const) {
    const { status, body } = await send(server, method, path)
    assert.deepEqual([status, body.code], [422, 'invalid_state'])
  }
  const { status } = await send(server, 'POST', '/browsers', { headless: true, proxy_id: second })
  assert.equal(status, 422)
  for (const id of [second, first]) await send(server, 'DELETE', `/proxies/${id}`)
})

test('if a proxy is deleted while a session starts to use it, exactly one of the two succeeds', async () => {
  for (let round = 0; round < 12; round++) {
    const { id } = (await custom({})).body
    const session = (await send(server, 'POST', '/browsers', { headless: true })).body
    const [removed, made, changed] = await Promise.all([
      send(server, 'DELETE', `/proxies/${id}`),
      send(server, 'POST', '/browsers', { headless: true, proxy_id: id }),
      send(server, 'PATCH', `/browsers/${session.session_id}`, { proxy_id: id }),
    ])
    const used = [made.status, changed.status].filter((status) => status === 200).length
    if (removed.status === 204) assert.equal(used, 0, 'used after it was deleted')
    else assert.deepEqual([removed.status, removed.body.code, used > 0], [400, 'resource_in_use', true])
    const [row] = await database.run(
      `SELECT count(*)::int AS count FROM browsers JOIN proxies ON proxies.id = proxy_id
       WHERE browsers.deleted_at IS NULL AND proxies.deleted_at IS NOT NULL`,
    )
    assert.equal(row!['count'], 0)
    for (const { body } of [{ body: session }, made]) {
      if (body.session_id) await send(server, 'DELETE', `/browsers/${body.session_id}`)
    }
  }
})

test('an ended session does not block the deletion of its proxy, and a project with a proxy is not empty', async () => {
  const project = (await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'with a proxy' })).body
  const header = { 'x-kernel-project-id': project.id }
  const body = { type: 'custom', config: { host: 'proxy.example', port: 8080 } }
  const proxy = (await send<Proxy>(server, 'POST', '/proxies', body, header)).body
  const session = (await send(server, 'POST', '/browsers', { headless: true, proxy_id: proxy.id }, header))
    .body
  const foreign = await send(server, 'POST', '/browsers', { headless: true, proxy_id: proxy.id })
  assert.equal(foreign.status, 400, 'another project')
  const listed = await send<{ session_id: string }[]>(server, 'GET', `/browsers?query=${proxy.id}`)
  assert.deepEqual(
    listed.body.map(({ session_id }) => session_id),
    [session.session_id],
  )
  await send(server, 'DELETE', `/browsers/${session.session_id}`)
  const refused = await send(server, 'DELETE', `/org/projects/${project.id}`)
  assert.match(refused.body.message!, /it has 1 proxies; delete them first/)
  assert.equal((await send(server, 'DELETE', `/proxies/${proxy.id}`)).status, 204)
  assert.equal((await send(server, 'DELETE', `/org/projects/${project.id}`)).status, 204)
})

test('a change that does not mention the proxy leaves it alone', async () => {
  const { id } = (await custom({})).body
  const session = (
    await send<{ session_id: string; proxy_id?: string }>(server, 'POST', '/browsers', {
      headless: true,
      proxy_id: id,
    })
  ).body
  const path = `/browsers/${session.session_id}`
  for (const change of [
    { proxy_id: null },
    { proxy_id: id },
    { tags: {} },
    { disable_default_proxy: false },
  ]) {
    const { status, body } = await send<{ proxy_id?: string }>(server, 'PATCH', path, change)
    assert.deepEqual(
      [status, body.proxy_id],
      status === 200 ? [200, id] : [400, undefined],
      JSON.stringify(change),
    )
  }
  const [row] = await database.run('SELECT proxy_version FROM browsers WHERE id = $1', [session.session_id])
  assert.equal(row!['proxy_version'], 0, 'no connection was cut')
  await send(server, 'DELETE', path)
})

test('an invalid provider file stops the start with the reason', () => {
  const broken = join(tempDir(owner), 'broken.json')
  writeFileSync(broken, '{"isp": {"url": "http://u:hush-hush@h:1"}}')
  assert.throws(
    () =>
      execFileSync(process.execPath, [programFile('main')], {
        env: serverEnv({ BERTH_DATA_DIR: tempDir(owner), BERTH_PROXY_PROVIDERS: broken }),
        stdio: 'pipe',
      }),
    (error: { stderr: Buffer }) => {
      const said = error.stderr.toString()
      assert.match(said, /BERTH_PROXY_PROVIDERS must name a JSON file of proxies/)
      assert.match(said, /isp\.url must not have a user name/)
      return !said.includes('hush-hush')
    },
  )
})

test('the name of a proxy is looked up at BERTH_DNS_SERVERS', async () => {
  const config = { host: 'named.example', port: named.port }
  const { body } = await create({ type: 'custom', protocol: 'http', config })
  const checked = await send<Proxy>(server, 'POST', `/proxies/${body.id}/check`)
  assert.deepEqual([checked.body.status, checked.body.ip_address], ['available', named.exit])
  assert.ok(dns.asked.includes('named.example'))
})
