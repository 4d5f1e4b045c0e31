// Frames, shadow trees, dialogs and popups.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { evaluate } from '../../fixtures/agent/page.ts'
import { named, saying } from '../../fixtures/agent/login-under-test.ts'
import { sharedLogin } from '../../fixtures/agent/shared-login.ts'

const hostOf = (origin: string) => new URL(origin).hostname

suite('pages', () => {
  const shared = sharedLogin()

  test('frames of another site have their position and can be used', async () => {
    const login = shared()
    login.pages['/inner'] =
      `<body style="margin:0"><form><input name="user" style="margin:30px 0 0 40px;border:0;padding:0;width:200px;height:20px">
      <button type="button" onclick="document.title = 'pressed with ' + user.value">Go</button></form>
      <iframe src="//127.0.0.1:${login.port}/innermost" style="border:3px solid;padding:4px;display:block"></iframe>`
    login.pages['/innermost'] = '<input name="deep">'
    login.pages['/outer'] = `<title>Outer</title><div style="height:1500px">far</div>
      <iframe src="//localhost:${login.port}/inner" style="border:10px solid;margin-left:100px;width:600px;height:400px"></iframe>
      <iframe src="/innermost" style="display:none"></iframe>`
    const page = await login.visit('/outer')
    assert.deepEqual(
      page.frames
        .map(({ origin, parent, is_visible }) =>
          [hostOf(origin), hostOf(page.frames[parent ?? 0]!.origin), is_visible].join(),
        )
        .toSorted(),
      [
        '127.0.0.1,127.0.0.1,false',
        '127.0.0.1,127.0.0.1,true',
        '127.0.0.1,localhost,true',
        'localhost,127.0.0.1,true',
      ],
    )
    assert.equal(page.frames[0]!.parent, null)
    const user = named(page, 'user')
    assert.equal(page.frames[user.frame]!.origin, login.url('', 'localhost'))
    assert.equal(user.is_visible, true)
    assert.equal(user.box[0], 8 + 100 + 10 + 40)
    assert.deepEqual(user.box.slice(2), [200, 20])
    assert.equal((await login.fill(user.ref, 'Zoë', ['localhost'])).result, 'done')
    assert.equal((await login.click(saying(page, 'Go').ref)).result, 'done')
    const visible = page.elements.find(({ name, is_visible }) => name === 'deep' && is_visible)!
    assert.equal((await login.fill(visible.ref, 'deep down', ['127.0.0.1'])).result, 'done')
    const after = await login.look()
    assert.equal(after.frames[user.frame]!.title, 'pressed with Zoë')
    assert.equal(after.document, page.document)
    assert.equal(after.elements.find(({ ref }) => ref === visible.ref)!.has_value, true)
  })

  test('fill types nothing on other hosts, whatever the page claims', async () => {
    const login = shared()
    login.pages['/foreign'] = `<input name="user"><iframe src="//localhost:${login.port}/own"></iframe>`
    login.pages['/own'] = '<input name="inner">'
    login.pages['/sandboxed'] = '<iframe sandbox="allow-scripts" src="/own"></iframe>'
    const page = await login.visit('/foreign')
    for (const hosts of [
      [],
      ['example.com'],
      ['localhost'],
      ['*.127.0.0.1'],
      ['127.0.0.1:1'],
      ['27.0.0.1'],
    ]) {
      const { result } = await login.fill(named(page, 'user').ref, 'secret', hosts)
      assert.equal(result, 'elsewhere', hosts.join())
    }
    assert.equal(
      (await login.act({ act: 'fill', refs: [named(page, 'user').ref], value: 'x' })).result,
      'elsewhere',
    )
    const inner = named(page, 'inner').ref
    assert.equal((await login.fill(inner, 'secret', ['127.0.0.1'])).result, 'elsewhere')
    assert.equal((await login.fill(inner, 'secret', [`localhost:${login.port}`])).result, 'done')
    const sandboxed = await login.visit('/sandboxed')
    assert.equal(sandboxed.frames[1]!.origin, 'null')
    assert.equal((await login.fill(named(sandboxed, 'inner').ref, 'secret')).result, 'elsewhere')
    const after = await login.look()
    assert.equal(named(after, 'inner').has_value, false)
  })

  test('fields in open, closed and nested shadow trees are seen and filled', async () => {
    const login = shared()
    login.pages['/shadow'] = `<x-open></x-open><x-closed></x-closed><script>
      const make = (name, mode, html) => customElements.define(name, class extends HTMLElement {
        constructor() { super(); this.attachShadow({ mode }).innerHTML = html } })
      make('x-open', 'open', '<input name="open">')
      make('x-inner', 'closed', '<input name="innermost"><button onclick="document.title += this.getRootNode().querySelector(\\'input\\').value">Go</button>')
      make('x-closed', 'closed', '<input name="closed"><x-inner></x-inner>')
    </script>`
    const page = await login.visit('/shadow')
    for (const name of ['open', 'closed', 'innermost']) {
      assert.deepEqual(await login.fill(named(page, name).ref, `in ${name}`), { result: 'done' })
    }
    assert.equal((await login.click(saying(page, 'Go').ref)).result, 'done')
    assert.equal((await login.look()).frames[0]!.title, 'in innermost')
  })

  test('dialogs are reported and closed, and endless dialogs do not block a login', async () => {
    const login = shared()
    login.pages['/dialogs'] =
      `<button onclick="alert('Wrong password'); document.title = confirm('Sure?') + ' ' + prompt('Why?')">Ask</button>`
    const page = await login.visit('/dialogs')
    await login.click(saying(page, 'Ask').ref)
    const after = await login.look()
    assert.deepEqual(after.dialogs, ['Wrong password', 'Sure?', 'Why?'])
    assert.equal(after.frames[0]!.title, 'false null')
    assert.deepEqual((await login.look()).dialogs, [])

    login.pages['/loop'] =
      `<h1>Still here</h1><script>addEventListener('beforeunload', (event) => event.preventDefault())
      setTimeout(() => { for (;;) alert('again') }, 100)</script>`
    const began = performance.now()
    const loop = await login.visit('/loop', { most_ms: 4_000 })
    assert.ok(performance.now() - began < 12_000)
    assert.ok(loop.dialogs.length > 0 && loop.dialogs.length <= 10)
    assert.deepEqual((await login.look({ most_ms: 2_000 })).frames[0]!.headings, ['Still here'])
    assert.equal((await login.visit('/dialogs')).frames[0]!.title, '')
  })

  test('an open popup replaces its page', async () => {
    const login = shared()
    login.pages['/opener'] =
      `<title>Opener</title><button onclick="window.open('/popup', 'p', 'width=400,height=300')">Sign in with X</button>
      <script>addEventListener('message', ({ data }) => { document.title = data })</script>`
    login.pages['/popup'] =
      `<title>Popup</title><input name="user"><button onclick="opener.postMessage(document.querySelector('input').value); window.close()">Allow</button>`
    const page = await login.visit('/opener')
    assert.equal(page.is_popup, false)
    await login.click(saying(page, 'Sign in with X').ref)
    const popup = await login.look()
    assert.equal(popup.frames[0]!.title, 'Popup')
    assert.equal(popup.is_popup, true)
    assert.ok(popup.document > page.document)
    assert.equal((await login.fill(named(popup, 'user').ref, 'Anna')).result, 'done')
    assert.equal((await login.click(saying(popup, 'Allow').ref)).result, 'done')
    const after = await login.look()
    assert.equal(after.frames[0]!.title, 'Anna')
    assert.equal(after.is_popup, false)
    assert.ok(after.document > popup.document)
    assert.equal((await login.click(saying(page, 'Sign in with X').ref)).result, 'done')
    assert.equal((await login.look()).is_popup, true)
    // A visit uses the page itself, not the popup.
    assert.equal((await login.visit('/opener')).is_popup, false)
    assert.equal((await login.look()).frames[0]!.title, 'Opener')
  })

  test('a link that opens a new tab is followed, with and without an opener', async () => {
    const login = shared()
    login.pages['/tab'] = '<title>Tab</title><button onclick="window.close()">Close</button>'
    for (const relation of ['opener', 'noopener', 'noreferrer']) {
      login.pages['/links'] =
        `<title>Links</title><a href="/tab" target="_blank" rel="${relation}">Sign in</a>`
      const page = await login.visit('/links')
      await login.click(saying(page, 'Sign in').ref)
      const tab = await login.look()
      assert.equal(tab.frames[0]!.title, 'Tab', relation)
      assert.equal(tab.is_popup, true)
    }
    assert.equal((await login.visit('/links')).is_popup, false)
  })

  test('a visit in a separate tab leaves the page unchanged', async () => {
    const login = shared()
    login.pages['/here'] = '<title>Here</title><input name="user">'
    login.pages['/there'] = `<title>There</title><script>document.cookie = 'a=1'; localStorage.b = 2</script>
      <script>requestAnimationFrame(() => { document.body.append('painted') })</script>`
    const page = await login.visit('/here')
    const user = named(page, 'user').ref
    await login.fill(user, 'somebody')
    const there = await login.visit('/there', { aside: true })
    assert.equal(there.frames[0]!.title, 'There')
    assert.match(there.frames[0]!.text, /painted/)
    assert.deepEqual(there.storage, { cookies: 1, local: 1, indexed: 0 })
    const here = await login.look()
    assert.equal(here.document, page.document)
    assert.equal(here.elements.find(({ ref }) => ref === user)!.has_value, true)
    using cdp = await login.agent.openCdp()
    const { targetInfos } = await cdp.call<{ targetInfos: { type: string }[] }>('Target.getTargets')
    assert.equal(targetInfos.filter(({ type }) => type === 'page').length, 1)
    assert.equal(await evaluate(cdp, 'document.title'), 'Here')
  })

  test('pages are asked to keep still, and links say which language they lead to', async () => {
    const login = shared()
    login.pages['/still'] = `<title>Moving</title><a href="/de" hreflang="de" lang="de">Deutsch</a>
      <script>if (matchMedia('(prefers-reduced-motion: reduce)').matches) document.title = 'Still'</script>`
    const page = await login.visit('/still')
    assert.equal(page.frames[0]!.title, 'Still')
    assert.equal(saying(page, 'Deutsch').data, 'hreflang=de lang=de')
  })

  test('a control that is only a picture is a control', async () => {
    const login = shared()
    const icon = '<svg class="icon-user" width="20" height="20"><circle r="8"/></svg>'
    login.pages['/icons'] = `<style>.b{cursor:pointer;width:24px}</style><div class="b" id="who">${icon}</div>
      <div class="b" style="width:800px;height:300px" id="picture"><img width="800" height="300" alt=""></div>
      <script>document.querySelector('#who').addEventListener('click', () => { document.title = 'clicked' })</script>`
    const page = await login.visit('/icons')
    const who = page.elements.find(({ id }) => id === 'who')!
    assert.match(who.icon, /icon-user/)
    assert.ok(!page.elements.some(({ id }) => id === 'picture'))
    assert.equal((await login.click(who.ref)).result, 'done')
    assert.equal((await login.look()).frames[0]!.title, 'clicked')
  })
})
