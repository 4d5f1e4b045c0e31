// Photos of the login's page: everything is in them but what fields hold.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ActOrder, ActResult, PageSnapshot, Photo } from '@berth/contracts/page-snapshot'
import { attachToFirstPage } from '../../../packages/agent/src/cdp/settle.ts'
import { LoginUnderTest, named } from '../../fixtures/agent/login-under-test.ts'
import { isNear, jpegColour } from '../../fixtures/jpeg-colour.ts'

const RED = [220, 0, 0]
const BLUE = [0, 0, 220]
const WHITE = [255, 255, 255]
const BOX = 'position:absolute;border:0;width:200px;height:80px;background:rgb(220,0,0)'

const PAGE = `<title>Sign in</title><body style="margin:0;background:#fff">
<div style="position:absolute;left:0;top:0;width:200px;height:80px;background:rgb(0,0,220)"></div>
<input name="user" value="remembered" style="${BOX};left:0;top:100px">
<div id="host" style="position:absolute;left:0;top:200px"></div>
<iframe src="/frame" style="position:absolute;left:300px;top:0;width:300px;height:200px;border:0"></iframe>
<script>
  const root = document.getElementById('host').attachShadow({ mode: 'open' })
  root.innerHTML = '<textarea name="inner" style="${BOX};left:0;top:0">remembered</textarea>'
  window.seen = []
  new MutationObserver((records) => window.seen.push(records.length)).observe(document, { subtree: true, childList: true, attributes: true })
</script>`
const FRAME = `<body style="margin:0;background:#fff"><input name="framed" value="remembered" style="${BOX};left:0;top:100px">`

const colour = (photo: Photo, x: number, y: number) =>
  jpegColour(Buffer.from(photo.jpeg!, 'base64'), { x, y })

test('a photo shows the page without its fields, in every frame and shadow tree', async (t) => {
  const login = await LoginUnderTest.start(t, { '/login': PAGE, '/frame': FRAME })
  await login.visit('/login')
  const photo = await login.photo()
  assert.ok(photo.jpeg)
  assert.ok(isNear(colour(photo, 40, 40), BLUE), 'the page is in the picture')
  assert.ok(isNear(colour(photo, 40, 140), WHITE), 'a field')
  assert.ok(isNear(colour(photo, 40, 240), WHITE), 'a field in a shadow tree')
  assert.ok(isNear(colour(photo, 340, 140), WHITE), 'a field in a frame')
  // The page is as before, and has heard of nothing.
  using cdp = await login.agent.openCdp()
  const { sessionId } = await attachToFirstPage(cdp)
  const expression = `JSON.stringify([getComputedStyle(document.querySelector('input')).opacity, seen.length])`
  const { result } = await cdp.call<{ result: { value: string } }>(
    'Runtime.evaluate',
    { expression },
    sessionId,
  )
  assert.equal(result.value, '["1",0]')
  assert.ok(isNear(colour(photo, 180, 110), WHITE), 'beside the words of the field')
  // The same place, when nothing covers it.
  const { data } = await cdp.call<{ data: string }>('Page.captureScreenshot', { format: 'jpeg' }, sessionId)
  assert.ok(isNear(colour({ jpeg: data }, 180, 110), RED))
})

test('after something was typed there are only photos of a part of the page', async (t) => {
  const login = await LoginUnderTest.start(t, { '/login': PAGE, '/frame': FRAME })
  const page: PageSnapshot = await login.visit('/login')
  const filled: ActResult = await login.fill(named(page, 'user').ref, 'ada')
  assert.deepEqual(filled, { result: 'done' })
  assert.deepEqual(await login.photo(), { jpeg: null })
  const part = await login.photo({ box: [0, 0, 200, 200] })
  assert.ok(isNear(colour(part, 40, 40), BLUE))
  assert.ok(isNear(colour(part, 40, 140), WHITE))
})

test('the token of a captcha goes into the fields and to the function that want it', async (t) => {
  const login = await LoginUnderTest.start(t, {
    '/login': `<title>Sign in</title><form><div class="g-recaptcha" data-callback="app.onToken"></div>
      <textarea name="g-recaptcha-response" style="display:none"></textarea></form>
      <script>window.app = { onToken: (token) => { document.title = 'Got ' + token } }</script>`,
    '/none': '<title>None</title>',
  })
  await login.visit('/login')
  const order: ActOrder = { act: 'solve', value: 'the-token', hosts: ['127.0.0.1'] }
  assert.deepEqual(await login.act(order), { result: 'done' })
  const { frames } = await login.look()
  assert.equal(frames[0]?.title, 'Got the-token')
  assert.equal((await login.act({ ...order, hosts: ['other.example'] })).result, 'elsewhere')
  await login.visit('/none')
  assert.equal((await login.act(order)).result, 'refused')
})
