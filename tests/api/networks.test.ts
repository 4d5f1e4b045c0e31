// The network, memory and region of sessions and pools, as newer clients send them: what is accepted, refused and shown.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Browser } from '@berth/contracts/browsers'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import type { Proxy } from '@berth/contracts/proxies'
import { ServerDatabase } from '../conformance/server-database.ts'
import { newCertificate } from '../fixtures/certificates.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { holds } from '../hostile/secret-search.ts'

const owner = { after }
const server = await startServer(owner, {
  env: { BERTH_SESSION_MEMORY_MB: '3072', BERTH_SESSION_MAX_MEMORY_MB: '10000' },
})
const database = await ServerDatabase.open(owner, server)

const create = (body: object, headers = {}) => send<Browser>(server, 'POST', '/browsers', body, headers)
const patch = (id: string, body: object) => send<Browser>(server, 'PATCH', `/browsers/${id}`, body)
const remove = (id: string) => send(server, 'DELETE', `/browsers/${id}`)

async function newProxy(name: string | undefined, headers = {}): Promise<string> {
  const body = { type: 'custom', config: { host: 'proxy.example', port: 8080 }, ...(name && { name }) }
  const made = await send<Proxy>(server, 'POST', '/proxies', body, headers)
  assert.equal(made.status, 201, made.body.message)
  return made.body.id
}

/** Status and message of the refusal of each body. */
async function assertRefused(
  attempt: (body: object) => Promise<{ status: number; body: { message?: string } }>,
  cases: readonly [body: object, reason: RegExp][],
): Promise<void> {
  for (const [body, reason] of cases) {
    const answer = await attempt(body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.body.message!, reason)
  }
}

test('a session names its proxy by id, by name or by mode, and every answer says which', async () => {
  const [named, other, nameless] = [
    await newProxy('harbour'),
    await newProxy('pier'),
    await newProxy(undefined),
  ]
  const byName = (await create({ headless: true, proxy: { name: 'harbour' } })).body
  assert.deepEqual([byName.proxy, byName.proxy_id], [{ id: named, name: 'harbour' }, named])
  const path = `/browsers/${byName.session_id}`
  assert.deepEqual((await send<Browser>(server, 'GET', path)).body.proxy, byName.proxy)
  const listed = await send<Browser[]>(server, 'GET', `/browsers?query=${named}`)
  assert.deepEqual(listed.body[0]!.proxy, byName.proxy)

  const steps: [body: object, proxy: object][] = [
    [{ proxy: { id: other } }, { id: other, name: 'pier' }],
    [{ tags: { a: 'b' } }, { id: other, name: 'pier' }],
    [{ proxy: { id: nameless } }, { id: nameless }],
    [{ proxy: { mode: 'direct' } }, { mode: 'direct' }],
    [{ proxy: { name: 'pier' } }, { id: other, name: 'pier' }],
    [{ proxy: { mode: 'default' } }, { mode: 'default' }],
    [{ proxy_id: named }, { id: named, name: 'harbour' }],
    [{ proxy_id: '' }, { mode: 'default' }],
  ]
  for (const [body, proxy] of steps) {
    const { status, body: changed } = await patch(byName.session_id, body)
    assert.deepEqual([status, changed.proxy], [200, proxy], JSON.stringify(body))
    assert.equal(changed.proxy_id, (proxy as { id?: string }).id)
  }
  await remove(byName.session_id)

  const modes = ['direct', 'default'] as const
  for (const mode of modes) {
    const { body } = await create({ headless: true, proxy: { mode } })
    assert.deepEqual([body.proxy, body.proxy_id], [{ mode }, undefined])
    await remove(body.session_id)
  }
  const plain = (await create({ headless: true })).body
  assert.deepEqual(plain.proxy, { mode: 'default' })
  await remove(plain.session_id)
})

test('a proxy that is not named exactly once is refused by the name of its field', async () => {
  const project = (await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'of others' })).body
  await newProxy('of another project', { 'x-kernel-project-id': project.id })
  const id = await newProxy('only one')
  for (let copy = 0; copy < 2; copy++) await newProxy('twice')
  const gone = await newProxy('deleted')
  await send(server, 'DELETE', `/proxies/${gone}`)
  const cases: [body: object, reason: RegExp][] = [
    [{ proxy: {} }, /proxy: needs exactly one of id, name and mode/],
    [{ proxy: { id, name: 'only one' } }, /proxy: needs exactly one/],
    [{ proxy: { id, mode: 'direct' } }, /proxy: needs exactly one/],
    [{ proxy: { mode: 'sideways' } }, /proxy.mode|mode/],
    [{ proxy: { id: '' } }, /proxy/],
    [{ proxy: { id }, proxy_id: id }, /proxy: cannot be given together with proxy_id/],
    [{ proxy: { id: 'absent' } }, /proxy\.id: names no proxy/],
    [{ proxy: { id: gone } }, /proxy\.id: names no proxy/],
    [{ proxy: { name: 'absent' } }, /proxy\.name: names no proxy/],
    [{ proxy: { name: 'deleted' } }, /proxy\.name: names no proxy/],
    [{ proxy: { name: 'of another project' } }, /proxy\.name: names no proxy/],
    [{ proxy: { name: 'twice' } }, /proxy\.name: names several proxies/],
  ]
  await assertRefused((body) => create({ headless: true, ...body }), cases)
  const { session_id } = (await create({ headless: true })).body
  await assertRefused(
    (body) => patch(session_id, body),
    [
      ...cases,
      [
        { proxy: { id }, disable_default_proxy: true },
        /proxy: cannot be given together with disable_default_proxy/,
      ],
    ],
  )
  await remove(session_id)
})

test('private hosts are checked entry by entry, and shown as they were given', async () => {
  const cases: [list: unknown, reason: RegExp][] = [
    [
      ['intranet.example', 'http://x.example'],
      /network\.private_hosts\.1: must not have a scheme, but is "http:/,
    ],
    [['8.8.8.8'], /network\.private_hosts\.0: must be in a private range .* but is "8\.8\.8\.8"/],
    [['127.0.0.1'], /network\.private_hosts\.0/],
    [['169.254.169.254'], /network\.private_hosts\.0/],
    [['10.0.0.1/8'], /first address of its network: 10\.0\.0\.0\/8/],
    [['*.com'], /public suffix/],
    [Array.from({ length: 33 }, (_, index) => `h${index}.example`), /network.private_hosts|private_hosts/],
    [['x'.repeat(256)], /private_hosts/],
    ['intranet.example', /private_hosts/],
  ]
  await assertRefused(
    (body) => create({ headless: true, ...body }),
    cases.map(([private_hosts, reason]) => [{ network: { private_hosts } }, reason]),
  )
  const private_hosts = ['Wiki.Corp.Example:8443', '*.corp.example', '10.0.0.0/8', '[fd00::1]:80']
  const made = (await create({ headless: true, network: { private_hosts } })).body
  assert.deepEqual(made.network, { private_hosts })
  await remove(made.session_id)
  const ended = await send<Browser>(server, 'GET', `/browsers/${made.session_id}?include_deleted=true`)
  assert.deepEqual(ended.body.network, { private_hosts })

  const none = (await create({ headless: true, network: { private_hosts: [] } })).body
  assert.deepEqual(none.network, { private_hosts: [] })
  const unset = (await create({ headless: true, network: {} })).body
  assert.equal(unset.network, undefined)
  for (const { session_id } of [none, unset]) await remove(session_id)
})

test('memory is what the operator gives or the caller asks for, and is shown in every answer', async () => {
  await assertRefused(create, [
    [{ headless: true, memory: '8GiB' }, /memory: is only for headful sessions without GPU/],
    [{ memory: '16GiB' }, /memory: must be at most 10000 MB on this server \(BERTH_SESSION_MAX_MEMORY_MB\)/],
    [{ memory: '4GiB' }, /memory/],
  ])
  const shown: [body: object, memory: string, mb: number][] = [
    [{ headless: true }, '2GiB', 3072],
    [{ headless: false }, '6GiB', 6144],
    [{ headless: true, stealth: true }, '6GiB', 6144],
    [{ memory: '8GiB' }, '8GiB', 8192],
  ]
  for (const [body, memory, mb] of shown) {
    const made = (await create(body)).body
    const path = `/browsers/${made.session_id}`
    const answers = [
      made,
      (await send<Browser>(server, 'GET', path)).body,
      (await patch(made.session_id, { tags: {} })).body,
      (await send<Browser[]>(server, 'GET', '/browsers')).body.find(
        ({ session_id }) => session_id === made.session_id,
      )!,
    ]
    assert.deepEqual([...new Set(answers.map((each) => each.memory))], [memory], JSON.stringify(body))
    const [row] = await database.run('SELECT memory_mb FROM browsers WHERE id = $1', [made.session_id])
    assert.equal(row!['memory_mb'], mb)
    await remove(made.session_id)
  }
})

const idsOf = (...sessions: Browser[]) => sessions.map(({ session_id }) => session_id)

test('a region is the name of the server, in every answer and as a filter', async () => {
  await assertRefused(create, [
    [{ headless: true, region: 'eu-west' }, /region: must be "us-east", the region of this server/],
    [{ headless: true, region: 'Somewhere Else' }, /region/],
  ])
  const made = (await create({ headless: true, region: 'us-east' })).body
  const old = (await create({ headless: true })).body
  const elsewhere = (await create({ headless: true })).body
  await database.run('UPDATE browsers SET region = NULL, memory_mb = NULL WHERE id = $1', [old.session_id])
  await database.run(`UPDATE browsers SET region = 'eu-west' WHERE id = $1`, [elsewhere.session_id])
  const idsIn = async (query: string) =>
    (await send<Browser[]>(server, 'GET', `/browsers${query}`)).body.map(({ session_id }) => session_id)
  assert.deepEqual(
    await idsIn('?region=us-east'),
    idsOf(old, made),
    'a session from before is of this server',
  )
  assert.deepEqual(await idsIn('?region=eu-west'), idsOf(elsewhere))
  assert.deepEqual(await idsIn('?region=ap-southeast'), [])
  for (const query of ['', '?region=']) assert.equal((await idsIn(query)).length, 3)
  const shown = await send<Browser>(server, 'GET', `/browsers/${old.session_id}`)
  assert.deepEqual([shown.body.region, shown.body.memory], ['us-east', '2GiB'])
  for (const { session_id } of [made, old, elsewhere]) await remove(session_id)
})

test('a pool has a region and a network, and its browsers get both', async () => {
  const pools = '/browser_pools'
  const newPool = (body: object) =>
    send<BrowserPool>(server, 'POST', pools, { size: 1, headless: true, ...body })
  await assertRefused(newPool, [
    [{ region: 'eu-west' }, /region: must be "us-east"/],
    [{ network: { private_hosts: ['1.1.1.1'] } }, /network\.private_hosts\.0/],
  ])
  const private_hosts = ['intranet.example']
  const made = (await newPool({ name: 'inside', network: { private_hosts } })).body
  assert.deepEqual([made.region, made.browser_pool_config.network], ['us-east', { private_hosts }])
  const change = (body: object) => send<BrowserPool>(server, 'PATCH', `${pools}/inside`, body)
  await assertRefused(change, [
    [{ network: { private_hosts: ['localhost'] } }, /network\.private_hosts\.0: must not be loopback/],
  ])
  const acquired = (await send<Browser>(server, 'POST', `${pools}/inside/acquire`, {})).body
  assert.deepEqual(
    [acquired.network, acquired.region, acquired.memory, acquired.proxy],
    [{ private_hosts }, 'us-east', '2GiB', { mode: 'default' }],
  )
  const steps: [body: object, network: object | undefined][] = [
    [{ size: 1 }, { private_hosts }],
    [{ network: { private_hosts: [] } }, { private_hosts: [] }],
    [{ network: { private_hosts: ['10.0.0.0/8'] } }, { private_hosts: ['10.0.0.0/8'] }],
    [{ network: {} }, undefined],
  ]
  for (const [body, network] of steps) {
    assert.deepEqual((await change(body)).body.browser_pool_config.network, network, JSON.stringify(body))
  }
  const still = await send<Browser>(server, 'GET', `/browsers/${acquired.session_id}`)
  assert.deepEqual(still.body.network, { private_hosts }, 'browsers that exist keep theirs')

  const elsewhere = (await newPool({ name: 'elsewhere' })).body
  await database.run(`UPDATE browser_pools SET region = 'eu-west' WHERE id = $1`, [elsewhere.id])
  const namesIn = async (region: string) =>
    (await send<BrowserPool[]>(server, 'GET', `${pools}?region=${region}`)).body.map(({ name }) => name)
  assert.deepEqual(await namesIn('us-east'), ['inside'])
  assert.deepEqual(await namesIn('eu-west'), ['elsewhere'])
  for (const name of ['inside', 'elsewhere'])
    await send(server, 'DELETE', `${pools}/${name}`, { force: true })
})

const filledPool = (name: string, fill_rate_per_minute: number) =>
  send<BrowserPool>(server, 'POST', '/browser_pools', { name, fill_rate_per_minute, size: 1, headless: true })

const available = async (name: string) =>
  (await send<BrowserPool>(server, 'GET', `/browser_pools/${name}`)).body.available_count

test('a server fills only pools of its region', async () => {
  const there = (await filledPool('there', 0)).body
  const move = (region: string) =>
    database.run('UPDATE browser_pools SET region = $1, fill_rate_per_minute = 100 WHERE id = $2', [
      region,
      there.id,
    ])
  await move('eu-west')
  await filledPool('here', 100)
  await eventually('its own is filled', async () => (await available('here')) === 1)
  assert.equal(await available('there'), 0)
  await move('us-east')
  await eventually('the other is filled once it is its own', async () => (await available('there')) === 1)
  for (const name of ['here', 'there'])
    await send(server, 'DELETE', `/browser_pools/${name}`, { force: true })
})

test('sessions are found by the name of their profile', async () => {
  const profile = { name: 'captain-of-the-harbour' }
  const { session_id } = (await create({ headless: true, profile: await existing(profile) })).body
  const other = (await create({ headless: true })).body
  const found = await send<Browser[]>(server, 'GET', '/browsers?query=Of-The-Harb')
  assert.deepEqual(
    found.body.map((each) => each.session_id),
    [session_id],
  )
  for (const id of [session_id, other.session_id]) await remove(id)
})

async function existing(profile: { name: string }): Promise<{ id: string }> {
  const { id } = (await send<{ id: string }>(server, 'POST', '/profiles', profile)).body
  return { id }
}

test('the certificates of a proxy are sealed, never shown, and deleted with it', async () => {
  const [first, second] = [newCertificate('a.example').ca, newCertificate('b.example').ca]
  for (const protocol of ['http', 'https', 'socks5']) {
    const config = { host: 'proxy.example', port: 8080, ca_bundle: `${first}\n${second}` }
    const made = await send<Proxy>(server, 'POST', '/proxies', { type: 'custom', protocol, config })
    assert.equal(made.status, 201, made.body.message)
    assert.deepEqual(made.body.config, {
      host: 'proxy.example',
      port: 8080,
      has_password: false,
      has_ca_bundle: true,
    })
    const { id } = made.body
    const shown = (await send<Proxy>(server, 'GET', `/proxies/${id}`)).body
    assert.ok(!JSON.stringify(shown).includes('CERTIFICATE'))
    const secret = first.split('\n')[1]!
    assert.ok(!holds(JSON.stringify(await database.dump()), secret))
    const session = await create({ headless: true, proxy: { id } })
    assert.equal(session.status, 200)
    assert.equal(session.body.chrome_policy, undefined)
    await remove(session.body.session_id)
    assert.equal((await send(server, 'DELETE', `/proxies/${id}`)).status, 204)
    const [row] = await database.run('SELECT sealed_ca_bundle FROM proxies WHERE id = $1', [id])
    assert.equal(row!['sealed_ca_bundle'], null)
  }
  for (const ca_bundle of ['nonsense', `${first}\n${newCertificate('c').key}`, 'x'.repeat(65_537)]) {
    const config = { host: 'proxy.example', port: 8080, ca_bundle }
    const refused = await send(server, 'POST', '/proxies', { type: 'custom', config })
    assert.equal(refused.status, 400)
    assert.match(refused.body.message!, /ca_bundle/)
  }
})
