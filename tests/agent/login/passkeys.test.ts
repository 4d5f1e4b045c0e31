// Which pages get the passkeys of a login, with a real agent and Chromium.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { Passkey, PageSnapshot } from '@berth/contracts/page-snapshot'
import { cleanUpAfter } from '../../fixtures/cleanup.ts'
import { PageActionsUnderTest } from '../../fixtures/login-page-actions.ts'

const limit = { timeout: 120_000 }
const never = new AbortController().signal

/** Each page asks for a key, or makes one, and says what came of it. */
const PAGE = `<!doctype html><title>Keys</title><h1>Keys</h1><p id="note">…</p><script>
  const asked = new URLSearchParams(location.search)
  const challenge = new Uint8Array(32)
  const rp = asked.get('rp') ?? location.hostname
  const make = () => navigator.credentials.create({ publicKey: { challenge, rp: { id: rp, name: 'Keys' },
    user: { id: new Uint8Array([1, 2, 3]), name: 'ada', displayName: 'Ada' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }], authenticatorSelection: { residentKey: 'required' } } })
  const use = () => navigator.credentials.get({ publicKey: { challenge, rpId: rp }, signal: AbortSignal.timeout(1500),
    ...(location.pathname === '/field' && { mediation: 'conditional' }) })
  const work = location.pathname === '/make' ? make() : use()
  work.then(() => { note.textContent = 'It worked' }, (error) => { note.textContent = 'Refused: ' + error.name })
  if (location.pathname === '/popup') window.open('/use')
</script>`

async function started(t: TestContext) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' }).end(PAGE)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUpAfter(t, async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  const actions = await PageActionsUnderTest.start(t)
  const visit = async (host: string, path: string): Promise<string> => {
    const url = `http://${host}:${port}${path}`
    const seen = await actions.visit({ url, aside: false, quiet_ms: 300, most_ms: 10_000 }, never)
    return noteIn(await settled(actions, seen))
  }
  const order = (keys: readonly Passkey[], hosts: readonly string[], mayCreate = false) =>
    actions.passkeys(
      { keys: [...keys], hosts: hosts.map((host) => `${host}:${port}`), may_create: mayCreate },
      never,
    )
  return { actions, visit, order }
}

const noteIn = ({ frames }: PageSnapshot) => /It worked|Refused: \w+|…/.exec(frames[0]!.text)?.[0] ?? ''

async function settled(actions: PageActionsUnderTest, first: PageSnapshot): Promise<PageSnapshot> {
  let seen = first
  for (let looks = 0; noteIn(seen) === '…' && looks < 10; looks++) {
    seen = await actions.look({ quiet_ms: 100, most_ms: 1_000, until_changed: true }, never)
  }
  return seen
}

async function madeAt(host: string, { visit, order }: Awaited<ReturnType<typeof started>>): Promise<Passkey> {
  await order([], [host], true)
  assert.equal(await visit(host, '/make'), 'It worked')
  const { keys } = await order([], [host])
  assert.equal(keys.length, 1)
  return keys[0]!
}

test('a page makes a key only while that is allowed, and uses it afterwards', limit, async (t) => {
  const started1 = await started(t)
  const { visit, order } = started1
  const key = await madeAt('a.localhost', started1)
  assert.equal(key.rp_id, 'a.localhost')
  assert.ok(key.private_key.length > 100)
  assert.equal(await visit('a.localhost', '/use'), 'It worked')
  assert.equal(await visit('a.localhost', '/field'), 'It worked')
  const [used] = (await order([], ['a.localhost'])).keys
  assert.equal(used!.sign_count, key.sign_count + 2)
  // A second key would need an order.
  assert.notEqual(await visit('b.localhost', '/make'), 'It worked')
  assert.equal((await order([], ['a.localhost'])).keys.length, 1)
})

test('a key that is given works in another browser, and its counter goes on', limit, async (t) => {
  const first = await started(t)
  const key = await madeAt('a.localhost', first)
  const second = await started(t)
  await second.order([{ ...key, sign_count: 500 }], ['a.localhost'])
  assert.equal(await second.visit('a.localhost', '/use'), 'It worked')
  assert.equal((await second.order([], ['a.localhost'])).keys[0]!.sign_count, 501)
})

test('other hosts, other relying parties and the next page get no key', limit, async (t) => {
  const place = await started(t)
  const { visit, order } = place
  const key = await madeAt('a.localhost', place)
  // Of the same relying party, but not a host where the credential may be typed.
  assert.notEqual(await visit('www.a.localhost', '/use?rp=a.localhost'), 'It worked')
  assert.notEqual(await visit('b.localhost', '/use'), 'It worked')
  assert.equal(await visit('b.localhost', '/use?rp=a.localhost'), 'Refused: SecurityError')
  assert.equal(await visit('a.localhost', '/use'), 'It worked')
  // Where both are allowed, Chromium still keeps the parties apart.
  await order([], ['a.localhost', 'b.localhost', 'www.a.localhost'])
  assert.notEqual(await visit('b.localhost', '/use'), 'It worked')
  assert.equal(await visit('www.a.localhost', '/use?rp=a.localhost'), 'It worked')
  assert.equal((await order([], ['a.localhost'])).keys[0]!.sign_count, key.sign_count + 2)
})

test('a popup of the login gets the keys of its own address', limit, async (t) => {
  const place = await started(t)
  await madeAt('a.localhost', place)
  await place.visit('a.localhost', '/popup')
  const seen = await place.actions.look({ quiet_ms: 500, most_ms: 5_000 }, never)
  assert.equal(seen.is_popup, true)
  assert.equal(noteIn(await settled(place.actions, seen)), 'It worked')
})
