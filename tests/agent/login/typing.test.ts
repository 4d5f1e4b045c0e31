// Typing and clicking on difficult pages.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { evaluate } from '../../fixtures/agent/page.ts'
import { named, saying } from '../../fixtures/agent/login-under-test.ts'
import { sharedLogin } from '../../fixtures/agent/shared-login.ts'

const title = (snapshot: PageSnapshot) => snapshot.frames[0]!.title

const boxes = (oninput: string) => `${Array.from(
  { length: 6 },
  (_none, index) => `<input name="box${index}" maxlength="1" size="1" oninput="${oninput}">`,
).join('')}<script>const all = [...document.querySelectorAll('input')]
  const next = (box) => all[all.indexOf(box) + 1]?.focus()
  addEventListener('input', () => { const code = all.map((box) => box.value).join('')
    if (code.length === 6 && window.then) then(code); else document.title = code })</script>`

suite('typing', () => {
  const shared = sharedLogin()

  const script = async (expression: string) => {
    using cdp = await shared().agent.openCdp()
    return await evaluate(cdp, expression)
  }

  test('fields that a script controls get real keys, which enable the button', async () => {
    const login = shared()
    // Like React: a change without an event is reverted.
    login.pages['/controlled'] =
      `<input name="user" value="before"><button disabled onclick="document.title = state">Next</button><script>
      let state = 'before'; const seen = window.seen = []
      const input = document.querySelector('input'), button = document.querySelector('button')
      const render = () => { if (input.value !== state) input.value = state }
      for (const type of ['keydown', 'beforeinput', 'input', 'keyup', 'change']) input.addEventListener(type, (event) => {
        if (event.isTrusted) seen.push(type)
        if (type === 'input') { state = input.value; setTimeout(() => { button.disabled = state.length < 4 }, 300) }
        render()
      })
      setInterval(render, 10)
    </script>`
    const page = await login.visit('/controlled')
    assert.equal(named(page, 'user').has_value, true)
    assert.equal(saying(page, 'Next').is_enabled, false)
    assert.deepEqual(await login.fill(named(page, 'user').ref, 'Ab1!'), { result: 'done' })
    assert.deepEqual(await login.click(saying(page, 'Next').ref), { result: 'done' })
    assert.equal(title(await login.look()), 'Ab1!')
    const seen = (await script('seen')) as string[]
    assert.deepEqual(seen.filter((type) => type === 'input').length, 4)
    assert.ok(seen.includes('keydown') && seen.includes('keyup') && seen.includes('change'))
  })

  test('fill is refused when a field drops characters, but not when an input mask adds some', async () => {
    const login = shared()
    login.pages['/fields'] = `<input name="short" maxlength="3"><input name="masked" oninput="this.value =
        this.value.replace(/\\D/g, '').replace(/^(\\d{3})(\\d+)/, '($1) $2')">
      <input name="stubborn" oninput="this.value = ''"><input name="locked" readonly><input name="off" disabled>
      <textarea name="area"></textarea><input name="hidden" style="visibility:hidden"><input name="number" type="number">`
    const page = await login.visit('/fields')
    assert.equal((await login.fill(named(page, 'short').ref, 'abcdef')).result, 'refused')
    assert.equal((await login.fill(named(page, 'masked').ref, '5551234567')).result, 'done')
    assert.equal((await login.fill(named(page, 'stubborn').ref, 'x')).result, 'refused')
    assert.equal((await login.fill(named(page, 'locked').ref, 'x')).result, 'refused')
    assert.equal((await login.fill(named(page, 'off').ref, 'x')).result, 'refused')
    assert.equal((await login.fill(named(page, 'number').ref, '42')).result, 'done')
    const long = 'lorem ipsum\tdolor 😀 '.repeat(400)
    assert.equal((await login.fill(named(page, 'area').ref, long)).result, 'done')
    assert.equal(await script('document.querySelector("[name=area]").value'), long)
    assert.equal(await script('document.querySelector("[name=masked]").value'), '(555) 1234567')
    assert.equal((await login.fill(named(page, 'area').ref, '')).result, 'done')
    assert.equal(await script('document.querySelector("[name=area]").value'), '')
  })

  const cases: Record<string, string> = {
    'that move on at once': boxes('next(this)'),
    'that move on late': boxes('setTimeout(() => next(this), 80)'),
    'that do not move on': boxes(''),
    'that send themselves': `${boxes('next(this)')}<script>window.then = (code) => { location = '/sent?' + code }</script>`,
  }
  for (const [name, page] of Object.entries(cases)) {
    test(`fill types a code into boxes ${name}`, async () => {
      const login = shared()
      login.pages['/boxes'] = page
      login.pages['/sent'] = '<script>document.title = location.search.slice(1)</script>'
      const snapshot = await login.visit('/boxes')
      const refs = Array.from({ length: 6 }, (_none, index) => named(snapshot, `box${index}`).ref)
      assert.deepEqual(await login.fill(refs, '730415'), { result: 'done' })
      assert.equal(title(await login.look()), '730415')
      if (name === 'that move on at once') {
        assert.deepEqual(await login.fill(refs, '000111'), { result: 'done' })
        assert.equal(title(await login.look()), '000111')
        assert.equal((await login.fill(refs, '1234567')).result, 'refused')
      }
    })
  }

  test('typing stops when the page navigates, and nothing reaches the next page', async () => {
    const login = shared()
    const typed: string[] = []
    login.pages['/leaving'] =
      `<input name="user" oninput="if (this.value.length === 3) location = 'http://localhost:${login.port}/catching'">`
    login.pages['/catching'] =
      `<input name="user" autofocus><script>addEventListener('keydown', ({ key }) => fetch('/key?' + key))</script>`
    login.pages['/key'] = (request, response) => {
      typed.push(request.url!)
      response.end()
    }
    const page = await login.visit('/leaving')
    const { result } = await login.fill(named(page, 'user').ref, 'a long secret', ['127.0.0.1'])
    assert.equal(result, 'gone')
    const after = await login.look()
    assert.equal(after.url, login.url('/catching', 'localhost'))
    assert.equal(named(after, 'user').has_value, false)
    assert.deepEqual(typed, [])
  })

  test('typing stops when another frame takes the focus', async () => {
    const login = shared()
    login.pages['/robbed'] =
      `<input name="user" oninput="if (this.value.length === 3) frames[0].postMessage('now', '*')">
      <iframe src="//localhost:${login.port}/robber"></iframe>`
    login.pages['/robber'] =
      `<input name="loot" oninput="document.title = this.value.length"><script>addEventListener('message', () => {
      const take = () => { window.focus(); document.querySelector('input').focus() }; take(); setInterval(take, 5) })</script>`
    const page = await login.visit('/robbed')
    const { result } = await login.fill(named(page, 'user').ref, 'a long secret that is typed', ['127.0.0.1'])
    const after = await login.look({ most_ms: 2_000 })
    assert.equal(result, 'refused')
    // The other frame gets at most the one key that was already sent.
    const looted = Number(after.frames[1]!.title)
    assert.ok(looted <= 1, `it has ${looted} characters`)
  })

  test('click works on elements that are covered, drawn by a label, or below the window', async () => {
    const login = shared()
    login.pages['/odd'] =
      `<div style="position:fixed;inset:0 0 200px 0;background:#fffc" onclick="document.title += 'cover,'"></div>
      <button onclick="document.title += 'covered,'" style="position:fixed;top:20px">Covered</button>
      <div style="height:3000px"></div><a href="#x" onclick="document.title += 'far,'">Far</a>
      <label style="display:block;margin:100px 0 800px">
      <input type="checkbox" name="remember" style="opacity:0;position:absolute;width:0;height:0"> Remember me</label>`
    const page = await login.visit('/odd')
    assert.equal((await login.click(saying(page, 'Covered').ref)).result, 'done')
    assert.equal((await login.click(saying(page, 'Far').ref)).result, 'done')
    const remember = named(page, 'remember').ref
    assert.equal((await login.act({ act: 'tick', refs: [remember] })).result, 'done')
    assert.equal((await login.act({ act: 'tick', refs: [remember] })).result, 'done')
    const after = await login.look()
    assert.equal(title(after), 'covered,far,')
    assert.equal(named(after, 'remember').is_checked, true)
  })

  test('choose selects an option, enter submits a form, and back returns', async () => {
    const login = shared()
    login.pages['/choice'] =
      `<title>Choice</title><form action="/chosen"><select name="org" onchange="document.title = this.value">
      <option value="">Choose</option><option value="a">A GmbH</option><option value="b">B Inc.</option></select><input name="user"></form>`
    login.pages['/chosen'] = '<script>document.title = location.search</script>'
    const page = await login.visit('/choice')
    const org = named(page, 'org').ref
    assert.equal((await login.act({ act: 'choose', refs: [org], value: 'B Inc.' })).result, 'done')
    assert.equal((await login.act({ act: 'choose', refs: [org], value: 'C' })).result, 'refused')
    assert.equal(title(await login.look()), 'b')
    await login.fill(named(page, 'user').ref, 'anna')
    assert.equal((await login.act({ act: 'enter', refs: [named(page, 'user').ref] })).result, 'done')
    assert.equal(title(await login.look()), '?org=b&user=anna')
    assert.equal((await login.act({ act: 'reload' })).result, 'done')
    assert.equal(title(await login.look()), '?org=b&user=anna')
    assert.equal((await login.act({ act: 'back' })).result, 'done')
    const back = await login.look()
    assert.equal(back.url, login.url('/choice'))
    assert.ok(back.document >= page.document + 3)
  })
})
