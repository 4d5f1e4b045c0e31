// While a login waits for its person, who may be using its page, the page cannot leave the hosts of the login.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LoginUnderTest } from '../../fixtures/agent/login-under-test.ts'
import { eventually } from '../../fixtures/host.ts'

test('while somebody watches the page, it can only go to the hosts of the login', async (t) => {
  const arrived: string[] = []
  let go: ServerResponse | undefined
  const away = (asked: IncomingMessage, response: ServerResponse) => {
    arrived.push(asked.headers.host!.split(':')[0]!)
    response.setHeader('content-type', 'text/html')
    response.end('<title>Away</title>You are away')
  }
  const login = await LoginUnderTest.start(t, {
    // The page leaves when the test says so.
    '/start': `<p>Please wait</p><script>
      fetch('/go').then((answer) => answer.text()).then((address) => (location.href = address))
    </script>`,
    '/go': (_asked, response) => void (go = response),
    '/away': away,
  })
  const only_hosts = ['127.0.0.1']
  const look = () => login.look({ only_hosts, quiet_ms: 0, most_ms: 500 })
  const leave = async (address: string) => {
    go = undefined
    // The page is never quiet, because it waits for the answer.
    await login.visit('/start', { quiet_ms: 0, most_ms: 1_000 })
    await eventually('the page asks where to go', () => go !== undefined)
    await look()
    go!.end(address)
  }
  const cdp = await login.agent.openCdp()
  const open = (url: string) => cdp.call<{ targetId: string }>('Target.createTarget', { url })
  const elsewhere = login.url('/away', 'localhost')

  await leave(elsewhere)
  await eventually('without a viewer it is free to go', () => arrived.length === 1)
  await open(elsewhere)
  await eventually('also in another tab', () => arrived.length === 2)
  arrived.length = 0

  const screen = await login.agent.connect('screen')
  t.after(() => screen.destroy())
  await leave(elsewhere)
  await eventually('the page is refused', async () => (await look()).failure !== null)
  assert.equal(arrived.length, 0)
  const { targetId } = await open(elsewhere)
  await eventually('the other tab is closed', async () => {
    const { targetInfos } = await cdp.call<{ targetInfos: { targetId: string }[] }>('Target.getTargets')
    return targetInfos.every((target) => target.targetId !== targetId)
  })
  await leave(login.url('/away'))
  await eventually('within its hosts it goes', () => arrived.includes('127.0.0.1'))
})
