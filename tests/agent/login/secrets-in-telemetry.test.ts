// Telemetry of a login contains everything except its secrets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { spellingsOf } from '../../../packages/agent/src/secrets/spellings.ts'
import { LoginUnderTest, named, saying } from '../../fixtures/agent/login-under-test.ts'

const CATEGORIES = ['console', 'interaction', 'network', 'page', 'screenshot', 'system']
const PASSWORD = `Tr0ub4dor&3 "é`
const CODE = '730415'

const PAGE = `<title>Sign in</title><form><input name="code"><input name="password" type="password"></form><button>Send</button><script>
  const hex = (text) => Array.from(text, (unit) => unit.charCodeAt(0).toString(16)).join('')
  const send = async () => {
    const { code: { value: code }, password: { value: password } } = document.querySelector('form')
    const both = { code, password }
    console.log('typed', both, password); console.error(new Error(password)); console.log(code + password)
    await fetch('/echo?password=' + encodeURIComponent(password), { method: 'POST', body: JSON.stringify(both) })
    await fetch('/echo', { method: 'POST', body: new URLSearchParams(both) })
    await fetch('/echo', { headers: { authorization: 'Basic ' + btoa('anna:' + unescape(encodeURIComponent(password))), 'x-code': code } })
    for (const spelling of [[...password].reverse().join(''), hex(password), escape(password), [...password].map((unit) => '\\\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join('')]) {
      console.log(spelling)
      await fetch('/echo/' + encodeURIComponent(spelling), { method: 'POST', body: spelling, headers: { ['x-' + hex(code)]: hex(password) } })
    }
    history.replaceState(null, '', '?code=' + code)
    document.title = password; document.body.append(password)
    // The end marker is reported last, whatever the source.
    addEventListener('hashchange', () => fetch('/echo', { method: 'PUT' }), { once: true })
    location.hash = encodeURIComponent(password)
    document.querySelector('button').textContent = 'Sent ' + code
  }
  document.querySelector('button').addEventListener('click', () => setTimeout(send))
</script>`

/** Event lines after that number, until both clicks of the sign-in are complete. */
async function eventsAfter(login: LoginUnderTest, after: number): Promise<{ text: string; last: number }> {
  const socket = await login.agent.connect('api')
  const sent = request({
    createConnection: () => socket,
    path: `/telemetry?after=${after}`,
    headers: { connection: 'close' },
  })
  sent.end()
  const [answer] = (await once(sent, 'response')) as [AsyncIterable<Buffer>]
  let text = ''
  for await (const chunk of answer) {
    text += chunk.toString()
    if (text.split('\n').filter(isEnd).length === 2 && text.endsWith('\n')) break
  }
  sent.destroy()
  const lines = text.trimEnd().split('\n')
  return { text, last: (JSON.parse(lines.at(-1)!) as { n: number }).n }
}

const isEnd = (line: string) => line.includes('"network_request"') && line.includes('"method":"PUT"')

async function signIn(login: LoginUnderTest, path: string, { isTyped = true } = {}): Promise<void> {
  const page = await login.visit(path)
  if (isTyped) {
    assert.equal((await login.fill(named(page, 'code').ref, CODE)).result, 'done')
    assert.equal((await login.fill(named(page, 'password').ref, PASSWORD)).result, 'done')
  }
  assert.equal((await login.click(saying(page, 'Send').ref)).result, 'done')
  const sent = await login.look()
  assert.equal((await login.click(saying(sent, `Sent ${CODE}`).ref)).result, 'done')
}

test('events contain no typed secret, in no encoding and not key by key', async (t) => {
  const login = await LoginUnderTest.start(t, {
    '/unhidden': `${PAGE}<script>
      document.querySelector('[name=code]').value = ${JSON.stringify(CODE)}
      document.querySelector('[name=password]').value = ${JSON.stringify(PASSWORD)}
    </script>`,
    '/hidden': PAGE,
    '/echo': (asked, response) => {
      response.setHeader('content-type', 'text/html')
      asked.pipe(response)
    },
  })
  const { status } = await login.agent.call('PUT', '/telemetry', { categories: CATEGORIES, version: 1 })
  assert.equal(status, 204)

  await signIn(login, '/unhidden', { isTyped: false })
  const before = await eventsAfter(login, 0)
  // Without these events the test would prove nothing.
  for (const value of [PASSWORD, CODE]) assert.ok(before.text.includes(JSON.stringify(value).slice(1, -1)))
  assert.match(before.text, /monitor_screenshot/)

  await login.hide(PASSWORD, CODE)
  await signIn(login, '/hidden')
  const later = (await eventsAfter(login, before.last)).text
  // Late events of the first page may still contain the values.
  const text = later.slice(later.lastIndexOf('\n', later.indexOf('/hidden')) + 1)
  for (const value of [PASSWORD, CODE]) {
    const others = [
      Array.from(value).toReversed().join(''),
      Buffer.from(value, 'latin1').toString('hex'),
      // The encoding in a form with a legacy charset.
      Array.from(value)
        .map((unit) => (/\w/.test(unit) ? unit : `%${unit.charCodeAt(0).toString(16)}`))
        .join(''),
      Array.from(value)
        .map((unit) => `u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
    ]
    for (const spelling of [...spellingsOf(value), ...others]) {
      assert.ok(!text.toLowerCase().includes(spelling.toLowerCase()), `An event contains ${spelling}`)
    }
  }
  const events = text
    .trimEnd()
    .split('\n')
    .map(
      (line) =>
        (JSON.parse(line) as { event: { type: string; data: { key?: string; post_data?: string } } }).event,
    )
  const types = new Set(events.map(({ type }) => type))
  for (const type of [
    'console_log',
    'console_error',
    'network_request',
    'network_response',
    'interaction_key',
    'interaction_click',
    'page_navigation',
  ]) {
    assert.ok(types.has(type), type)
  }
  assert.ok(!types.has('monitor_screenshot'))
  const bodies = events.flatMap(({ data }) => data.post_data ?? [])
  assert.deepEqual([...new Set(bodies)], ['[redacted]'])
  assert.match(text, /"url":"http:\/\/[^/"]+\/\[redacted\]"/, 'the host stays')
  assert.ok(events.every(({ data }) => data.key === undefined))
  assert.ok(!login.agent.output.includes(CODE))
})
