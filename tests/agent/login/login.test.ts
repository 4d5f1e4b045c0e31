// The whole path of a simple login through the agent.
import assert from 'node:assert/strict'
import test from 'node:test'
import { LoginUnderTest, named, saying } from '../../fixtures/agent/login-under-test.ts'

const FORM = `<title>Sign in</title><h1>Welcome</h1>
<form method="post" action="/done"><label>E-mail <input name="email" type="email"></label>
<label>Password <input name="password" type="password"></label><button>Sign in</button></form>`

test('a login sees a form, fills it in and submits it', async (t) => {
  const sent: string[] = []
  const login = await LoginUnderTest.start(t, {
    '/login': FORM,
    '/done': (request, response) => {
      request.setEncoding('utf8')
      request.on('data', (chunk: string) => sent.push(chunk))
      request.once('end', () =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
      )
    },
  })
  const page = await login.visit('/login')
  assert.equal(page.url, login.url('/login'))
  assert.equal(page.status, 200)
  assert.equal(page.is_quiet, true)
  assert.equal(page.frames[0]!.title, 'Sign in')
  assert.equal(page.frames[0]!.origin, `http://127.0.0.1:${login.port}`)
  assert.deepEqual(await login.fill(named(page, 'email').ref, 'a@b.example'), { result: 'done' })
  assert.deepEqual(await login.fill(named(page, 'password').ref, 'päss wörd!"§€𝄞'), { result: 'done' })
  assert.deepEqual(await login.click(saying(page, 'Sign in').ref), { result: 'done' })
  const after = await login.look()
  assert.deepEqual(after.frames[0]!.headings, ['Hello'])
  assert.equal(after.document, page.document + 1)
  assert.deepEqual(Object.fromEntries(new URLSearchParams(sent.join(''))), {
    email: 'a@b.example',
    password: 'päss wörd!"§€𝄞',
  })
  assert.deepEqual(await login.click(saying(page, 'Sign in').ref), { result: 'gone' })
})
