// Every method of `proxies`, and proxies of sessions, in each version of the published client.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { newCertificate } from '../fixtures/certificates.ts'
import { startProxy } from '../fixtures/proxies.ts'
import { startServer } from '../fixtures/server.ts'
import { startWitness } from '../fixtures/witness.ts'
import { client55, client70, client84 } from './versions.ts'

const owner = { after }
const witness = await startWitness(owner)
const login = { username: 'harbour', password: 'master-of-ships' }
const certificate = newCertificate('host.berth.internal')
const upstreams = {
  http: await startProxy(owner, { protocol: 'http', exit: '127.0.0.11', ...login }),
  https: await startProxy(owner, { protocol: 'https', exit: '127.0.0.12', ...login, certificate }),
  socks5: await startProxy(owner, { protocol: 'socks5', exit: '127.0.0.13', ...login }),
}
const ports = Object.values(upstreams).map(({ port }) => port)
const server = await startServer(owner, {
  env: {
    BERTH_EGRESS_ALLOW: [witness.port, ...ports].map((port) => `host.berth.internal:${port}`).join(','),
    BERTH_PROXY_CHECK_URLS: `${witness.url}/ip`,
  },
})
const versions = { '0.55.0': client55, '0.70.0': client70, '0.84.0': client84 }

for (const [version, newClient] of Object.entries(versions)) {
  describe(`client ${version}`, () => {
    test('creates, reads, checks and deletes a proxy, and never returns its password', async () => {
      const { proxies } = newClient(server)
      const created = await proxies.create({
        type: 'custom',
        name: `harbour ${version}`,
        protocol: 'http',
        bypass_hosts: ['Intranet.Example', '*.cdn.example'],
        config: { host: 'host.berth.internal', port: upstreams.http.port, ...login },
      })
      const { port } = upstreams.http
      const config = { host: 'host.berth.internal', port, username: 'harbour', has_password: true }
      assert.equal(created.type, 'custom')
      assert.equal(created.protocol, 'http')
      assert.deepEqual(created.bypass_hosts, ['intranet.example', '*.cdn.example'])
      assert.deepEqual(created.config, { ...config, has_ca_bundle: false })
      assert.equal(created.status, undefined)
      assert.deepEqual(await proxies.retrieve(created.id!), created)

      const checked = await proxies.check(created.id!)
      assert.equal(checked.status, 'available')
      assert.equal(checked.ip_address, '127.0.0.11')
      assert.ok(Date.now() - Date.parse(checked.last_checked!) < 60_000)
      assert.deepEqual(await proxies.retrieve(created.id!), checked)

      assert.equal(await proxies.delete(created.id!), null)
      assert.equal(await proxies.delete(created.id!), null, 'a repeated delete is success')
      await assert.rejects(proxies.retrieve(created.id!), { status: 404 })
    })

    test('sets a session’s proxy at its creation, changes it later, and removes it', async () => {
      const { browsers, proxies } = newClient(server)
      const [first, second] = await Promise.all(
        [upstreams.http, upstreams.http].map(async ({ port }) => {
          const { id } = await proxies.create({
            type: 'custom',
            protocol: 'http',
            config: { host: 'host.berth.internal', port },
          })
          return id!
        }),
      )
      const session = await browsers.create({ headless: true, proxy_id: first! })
      assert.equal(session.proxy_id, first)
      assert.equal((await browsers.retrieve(session.session_id)).proxy_id, first)
      await assert.rejects(
        proxies.delete(first!),
        (error: { status?: number; error?: { code?: string }; message: string }) => {
          assert.equal(error.status, 400)
          assert.equal(error.error?.code, 'resource_in_use')
          assert.match(error.message, /1 browser sessions use it/)
          return true
        },
      )
      assert.equal((await browsers.update(session.session_id, { proxy_id: second! })).proxy_id, second)
      await proxies.delete(first!)
      assert.equal((await browsers.update(session.session_id, { tags: { a: 'b' } })).proxy_id, second)
      assert.equal((await browsers.update(session.session_id, { proxy_id: '' })).proxy_id, undefined)
      await proxies.delete(second!)
      await assert.rejects(browsers.create({ headless: true, proxy_id: first! }), { status: 400 })
      await assert.rejects(browsers.update(session.session_id, { proxy_id: second! }), { status: 400 })
      await browsers.deleteByID(session.session_id)
    })
  })
}

test('lists of the oldest client are whole arrays, newer ones are paged and searched', async () => {
  const [old, current] = [client55(server).proxies, client84(server).proxies]
  const names = ['North', 'north-east', 'South']
  const made = []
  for (const name of names) {
    const config = { host: `${name.toLowerCase()}.example`, port: 3128 }
    made.push((await current.create({ type: 'custom', name, config })).id!)
  }
  const listed = (await old.list()).map(({ name }) => name)
  assert.deepEqual(listed.slice(0, 3), names.toReversed(), 'newest first')
  for (const limit of [1, 2, 100]) {
    const all = await Array.fromAsync(current.list({ limit }))
    assert.deepEqual(
      all.map(({ name }) => name),
      listed,
    )
  }
  const found = async (query: object) => (await Array.fromAsync(current.list(query))).map(({ name }) => name)
  assert.deepEqual(await found({ query: 'NORTH' }), ['north-east', 'North'])
  assert.deepEqual(await found({ query: 'east.example' }), ['north-east'], 'by host')
  assert.deepEqual(await found({ query: made[2] }), ['South'], 'by id')
  assert.deepEqual(await found({ query: made[2]!.slice(1) }), [], 'not by a part of it')
  assert.deepEqual(await found({ name: 'North' }), ['North'])
  const renamed = await current.update(made[0]!, { name: 'West' })
  assert.equal(renamed.name, 'West')
  assert.equal((await current.update(made[1]!, { name: 'West' })).name, 'West', 'names need not be unique')
  await assert.rejects(current.update(made[0]!, { name: '   ' }), { status: 400 })
  for (const id of made) await current.delete(id)
})

for (const [protocol, upstream] of Object.entries(upstreams)) {
  test(`a check uses a ${protocol} proxy, and reports whether it works`, async () => {
    const { proxies } = client84(server)
    const create = async (change: object = {}) => {
      const definition = { ...upstream.definition, config: { ...upstream.definition.config, ...change } }
      return (await proxies.create(definition as Parameters<typeof proxies.create>[0])).id!
    }
    const right = await create()
    const checked = await proxies.check(right)
    assert.equal(checked.status, 'available')
    assert.equal(checked.ip_address, upstream.exit)
    const found = await Array.fromAsync(proxies.list({ query: upstream.exit }))
    assert.ok(found.some(({ id }) => id === right))

    const before = upstream.refused()
    const wrong = await create({ password: 'wrong-password' })
    const failed = await proxies.check(wrong)
    assert.deepEqual([failed.status, failed.ip_address], ['unavailable', undefined])
    assert.equal(upstream.refused(), before + 1)

    // With a URL, the result is returned but not stored.
    const lost = await proxies.check(right, { url: `http://host.berth.internal:${ports[0]}/` })
    assert.equal((await proxies.retrieve(right)).status, 'available')
    assert.ok(lost.status)
    assert.equal((await proxies.check(right, { url: `${witness.url}/page` })).status, 'available')
    assert.ok(witness.visits.some(({ path, from }) => path === '/page' && from === upstream.exit))
    for (const url of [
      'http://10.0.0.1/',
      'http://localhost/',
      'ftp://a.example/',
      'nonsense',
      'http://u:p@a.example/',
      'http://169.254.169.254/latest',
    ]) {
      await assert.rejects(proxies.check(right, { url }), { status: 400 }, url)
    }
    for (const id of [right, wrong]) await proxies.delete(id)
  })
}

test('an https proxy is trusted only through its authorities', async () => {
  const { proxies } = client84(server)
  const { ca_bundle: _bundle, ...config } = upstreams.https.definition.config
  const create = async (extra: object) =>
    (await proxies.create({ type: 'custom', protocol: 'https', config: { ...config, ...extra } } as never))
      .id!
  const refused = upstreams.https.refused()
  for (const extra of [{}, { ca_bundle: newCertificate('host.berth.internal').ca }]) {
    assert.equal((await proxies.check(await create(extra))).status, 'unavailable')
  }
  assert.equal(upstreams.https.refused(), refused, 'it was never told a password')
})
