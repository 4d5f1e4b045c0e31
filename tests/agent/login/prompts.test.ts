// Prompts of the browser itself, headful and headless: nothing waits for an answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADFUL, HEADLESS } from '../../fixtures/agent/agent-under-test.ts'
import { LoginUnderTest, named, saying } from '../../fixtures/agent/login-under-test.ts'

const PAGE = `<title>Asking</title><input name="user"><button onclick="ask()">Ask</button><script>
  const ask = () => {
    navigator.geolocation.getCurrentPosition(() => {}, () => {})
    Notification.requestPermission()
    navigator.clipboard.readText().catch(() => {})
    navigator.mediaDevices?.getUserMedia({ audio: true, video: true }).catch(() => {})
    navigator.credentials.get({ publicKey: { challenge: new Uint8Array(32), timeout: 300000 } }).catch(() => {})
    location = 'unknown-app://open'
    document.title = 'Asked'
  }
</script>`

for (const [name, browser] of Object.entries({ 'with a screen': HEADFUL, 'without a screen': HEADLESS })) {
  test(`${name}, prompts for permissions, passkeys and programs do not block a login`, async (t) => {
    const pages = { '/asking': PAGE, '/popup': '<title>Popup</title><input name="code">' }
    const login = await LoginUnderTest.start(t, pages, { browser })
    const page = await login.visit(login.url('/asking', 'localhost'))
    assert.deepEqual(await login.click(saying(page, 'Ask').ref), { result: 'done' })
    const asked = await login.look({ most_ms: 5_000 })
    assert.equal(asked.frames[0]!.title, 'Asked')
    assert.deepEqual(await login.fill(named(asked, 'user').ref, 'anna'), { result: 'done' })
    assert.equal(named(await login.look(), 'user').has_value, true)
    login.pages['/opener'] =
      `<button onclick="window.open('/popup', '', 'width=300,height=200')">Open</button>`
    await login.click(saying(await login.visit('/opener'), 'Open').ref)
    const popup = await login.look({ quiet_ms: 1_000 })
    assert.equal(popup.frames[0]!.title, 'Popup')
    assert.deepEqual(await login.fill(named(popup, 'code').ref, '123456'), { result: 'done' })
    const aside = await login.visit('/asking', { aside: true })
    assert.equal(aside.frames[0]!.title, 'Asking')
    assert.equal(named(aside, 'user').is_visible, true)
    login.pages['/basic'] = (_request, response) =>
      void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    assert.equal((await login.visit('/basic')).http_auth!.realm, 'x')
  })
}
