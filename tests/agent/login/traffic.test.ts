// Requests, responses and authentication of a page, and a Chromium that ends.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { suite, test } from 'node:test'
import { attachToFirstPage } from '../../../packages/agent/src/cdp/settle.ts'
import { evaluate } from '../../fixtures/agent/page.ts'
import { LoginUnderTest, named, saying } from '../../fixtures/agent/login-under-test.ts'
import { sharedLogin } from '../../fixtures/agent/shared-login.ts'

suite('traffic', () => {
  const shared = sharedLogin()

  test('a page is quiet when it has loaded and shown its data', async () => {
    const login = shared()
    login.pages['/slow'] = (_request, response) => void setTimeout(() => response.end('"the answer"'), 900)
    login.pages['/asking'] = `<script>fetch('/slow').then((answer) => answer.json()).then((text) => {
      setTimeout(() => document.body.append(text), 200) })</script>`
    const page = await login.visit('/asking')
    assert.equal(page.is_quiet, true)
    assert.match(page.frames[0]!.text, /the answer/)
    assert.equal(page.is_polling, false)
  })

  test('a look waits for a scheduled redirect', async () => {
    const login = shared()
    login.pages['/soon'] = '<meta http-equiv="refresh" content="1; url=/arrived">Soon'
    login.pages['/arrived'] = '<title>Arrived</title>'
    assert.equal((await login.visit('/soon')).frames[0]!.title, 'Arrived')
  })

  test('streams, sockets and polls do not keep a page busy, and polling is reported', async () => {
    const login = shared()
    const open: ServerResponse[] = []
    login.pages['/stream'] = (_request, response) => {
      open.push(response)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    }
    login.pages['/poll'] = (_request, response) => void setTimeout(() => response.end('{}'), 250)
    login.pages['/waiting'] =
      `Waiting<script>new EventSource('/stream'); setInterval(() => fetch('/poll?' + Math.random()), 400)</script>`
    await login.visit('/waiting', { most_ms: 3_000 })
    // Polling is only recognised after several requests.
    await login.look({ quiet_ms: 0, most_ms: 2_500, until_changed: true })
    const page = await login.look({ most_ms: 4_000 })
    assert.equal(page.is_quiet, true)
    assert.equal(page.is_polling, true)
    for (const response of open) response.end()
  })

  test('an endless request delays only one look', async () => {
    const login = shared()
    const held: ServerResponse[] = []
    login.pages['/never'] = (_request, response) => void held.push(response)
    login.pages['/hanging'] = `Hanging<script>fetch('/never')</script>`
    assert.equal((await login.visit('/hanging', { most_ms: 1_000 })).is_quiet, false)
    assert.equal((await login.look({ most_ms: 11_000 })).is_quiet, false)
    assert.equal((await login.look({ most_ms: 2_000 })).is_quiet, true)
    for (const response of held) response.end()
  })

  test('status, headers and failure belong to the main document', async () => {
    const login = shared()
    login.pages['/limited'] = (_request, response) =>
      void response
        .writeHead(429, { 'retry-after': '30', server: 'x', 'x-other': 'y', 'content-type': 'text/html' })
        .end('<h1>Slow down</h1>')
    login.pages['/to-limited'] = (_request, response) =>
      void response.writeHead(302, { location: '/limited' }).end()
    const limited = await login.visit('/to-limited')
    assert.equal(limited.status, 429)
    assert.equal(limited.url, login.url('/limited'))
    assert.deepEqual(limited.headers, { 'retry-after': '30', server: 'x' })
    assert.deepEqual(limited.frames[0]!.headings, ['Slow down'])

    const refused = await login.visit('http://127.0.0.1:9/')
    assert.match(refused.failure!, /^net::ERR_/)
    assert.equal(refused.url, 'http://127.0.0.1:9/')
    assert.equal(refused.frames.length, 1)
    login.pages['/empty'] = (_request, response) => void response.writeHead(204).end()
    const empty = await login.visit('/empty')
    assert.equal(empty.failure, 'net::ERR_ABORTED')
    const again = await login.visit('/limited')
    assert.equal(again.failure, null)
    // The egress responds like this for a website that it cannot reach.
    login.pages['/unreached'] = (_request, response) =>
      void response.writeHead(502, { 'proxy-status': 'berth; error=destination_unavailable' }).end('{}')
    const unreached = await login.visit('/unreached')
    assert.deepEqual([unreached.status, unreached.failure], [null, 'destination_unavailable'])
    await assert.rejects(login.visit('file:///etc/passwd'), /400/)
    await assert.rejects(login.visit('javascript:alert(1)'), /400/)
  })

  test('HTTP authentication is reported, answered for allowed hosts, and never retried with the same answer', async () => {
    const login = shared()
    const given: string[] = []
    login.pages['/basic'] = (request, response) => {
      const [, text = ''] = (request.headers.authorization ?? '').split(' ')
      const answer = Buffer.from(text, 'base64').toString()
      given.push(answer)
      if (answer === 'anna:right')
        return void response.writeHead(200, { 'content-type': 'text/html' }).end('<title>In</title>')
      response
        .writeHead(401, { 'www-authenticate': 'Basic realm="Staff"', 'content-type': 'text/html' })
        .end('<title>Out</title>')
    }
    const asked = await login.visit('/basic')
    const origin = login.url('')
    assert.deepEqual(asked.http_auth, { origin, scheme: 'basic', realm: 'Staff', is_rejected: false })
    assert.equal(asked.status, 401)
    assert.equal(asked.frames[0]!.title, 'Out')

    const answer = (user: string, value: string, hosts: string[]) =>
      login.act({ act: 'authenticate', user, value, hosts })
    assert.equal((await answer('anna', 'right', [])).result, 'elsewhere')
    assert.equal((await answer('anna', 'right', ['example.com'])).result, 'done')
    assert.equal((await login.visit('/basic')).http_auth!.is_rejected, false)
    assert.deepEqual(new Set(given), new Set(['']))

    assert.equal((await answer('anna', 'wrong', ['127.0.0.1'])).result, 'done')
    for (let time = 0; time < 3; time++) {
      const rejected = await login.visit('/basic')
      assert.equal(rejected.http_auth!.is_rejected, true)
      assert.equal(rejected.status, 401)
    }
    assert.equal(given.filter((each) => each === 'anna:wrong').length, 1)

    assert.equal((await answer('anna', 'right', ['127.0.0.1'])).result, 'done')
    const inside = await login.visit('/basic')
    assert.equal(inside.status, 200)
    assert.equal(inside.http_auth, null)
    assert.equal(inside.frames[0]!.title, 'In')

    login.pages['/part'] = (_request, response) =>
      void response.writeHead(401, { 'www-authenticate': 'Digest realm="Part", nonce="1"' }).end()
    login.pages['/parts'] =
      '<title>Parts</title><script>fetch("/part").then(({ status }) => { document.title = status })</script>'
    const part = await login.visit('/parts')
    assert.equal(part.frames[0]!.title, '401')
    assert.deepEqual(part.http_auth, { origin, scheme: 'digest', realm: 'Part', is_rejected: true })
  })

  test('a visit bypasses the cache', async () => {
    const login = shared()
    let isIn = true
    login.pages['/kept'] = (request, response) => {
      const headers = {
        'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
        'cache-control': 'private, max-age=0',
      }
      if (request.headers['if-modified-since']) return void response.writeHead(304, headers).end()
      response.writeHead(200, { ...headers, 'content-type': 'text/html' })
      response.end(`<title>${isIn ? 'In' : 'Out'}</title>`)
    }
    assert.equal((await login.visit('/kept')).frames[0]!.title, 'In')
    isIn = false
    assert.equal((await login.visit('/kept', { aside: true })).frames[0]!.title, 'Out')
    assert.equal((await login.visit('/kept')).frames[0]!.title, 'Out')
  })

  test('a look with until_changed waits for a change', async () => {
    const login = shared()
    login.pages['/push'] =
      `<p>Approve on your phone</p><p id="left">30</p><script>let left = 30; setInterval(() => {
      document.getElementById('left').textContent = --left }, 200); window.go = () => { document.querySelector('p').textContent = 'Welcome' }</script>`
    const page = await login.visit('/push', { quiet_ms: 100, most_ms: 3_000 })
    const began = performance.now()
    const same = await login.look({ quiet_ms: 0, most_ms: 1_500, until_changed: true })
    assert.ok(performance.now() - began >= 1_400, 'a countdown on the page does not count as a change')
    assert.equal(same.document, page.document)
    const changed = login.look({ quiet_ms: 0, most_ms: 20_000, until_changed: true })
    using cdp = await login.agent.openCdp()
    await evaluate(cdp, 'go()')
    assert.match((await changed).frames[0]!.text, /Welcome/)
    assert.ok(performance.now() - began < 10_000)
  })

  test('a login does not disturb other clients and ignores their pages', async () => {
    const login = shared()
    login.pages['/mine'] = '<title>Mine</title><input name="user">'
    login.pages['/theirs'] = '<title>Theirs</title>'
    await login.visit('/mine')
    using cdp = await login.agent.openCdp()
    const { targetId } = await cdp.call<{ targetId: string }>('Target.createTarget', {
      url: login.url('/theirs'),
    })
    const page = await login.look()
    assert.equal(page.frames[0]!.title, 'Mine')
    assert.equal(page.is_popup, false)
    // The other page is in front, but ours still gets the keys.
    assert.equal((await login.fill(named(page, 'user').ref, 'anna')).result, 'done')
    await cdp.call('Target.closeTarget', { targetId })
    assert.equal((await login.look()).document, page.document)
    // The page would notice an override by the debugger.
    assert.equal(
      await evaluate(cdp, 'Object.keys(globalThis).some((name) => name.startsWith("berth"))'),
      false,
    )
  })
})

test('a login can start while the page does not respond', async (t) => {
  const login = await LoginUnderTest.start(t, { '/page': '<title>Page</title>' })
  using cdp = await login.agent.openCdp()
  const { sessionId } = await attachToFirstPage(cdp)
  cdp.dispatch('Runtime.evaluate', { expression: 'for (;;);' }, sessionId)
  assert.equal((await login.visit('/page')).frames[0]!.title, 'Page')
})

test('a crashed page is reported, and the next visit works', async (t) => {
  const login = await LoginUnderTest.start(t, { '/page': '<title>Page</title><input name="user">' })
  const page = await login.visit('/page')
  using cdp = await login.agent.openCdp()
  const { sessionId } = await attachToFirstPage(cdp)
  cdp.dispatch('Page.crash', {}, sessionId)
  const crashed = await login.look()
  assert.equal(crashed.failure, 'the page crashed')
  assert.deepEqual(crashed.elements, [])
  assert.equal((await login.fill(named(page, 'user').ref, 'anna')).result, 'gone')
  const again = await login.visit('/page')
  assert.equal(again.failure, null)
  assert.equal((await login.fill(named(again, 'user').ref, 'anna')).result, 'done')
})

test('the end of Chromium is reported, and the next look uses the restarted one', async (t) => {
  const login = await LoginUnderTest.start(t, { '/page': '<title>Page</title><button>Go</button>' })
  const page = await login.visit('/page')
  const waiting = assert.rejects(login.look({ most_ms: 20_000, until_changed: true }), /410/)
  {
    using cdp = await login.agent.openCdp()
    await cdp.call('Browser.close')
  }
  await waiting
  const next = await login.look()
  assert.ok(next.document > page.document)
  assert.equal(next.url, 'about:blank')
  assert.equal((await login.click(saying(page, 'Go').ref)).result, 'gone')
  assert.equal((await login.visit('/page')).frames[0]!.title, 'Page')
  // Another client closes the page.
  using cdp = await login.agent.openCdp()
  const { targetInfos } = await cdp.call<{ targetInfos: { targetId: string; type: string }[] }>(
    'Target.getTargets',
  )
  await cdp.call('Target.createTarget', { url: 'about:blank' })
  await cdp.call('Target.closeTarget', {
    targetId: targetInfos.find(({ type }) => type === 'page')!.targetId,
  })
  assert.equal((await login.look()).url, 'about:blank')
})
