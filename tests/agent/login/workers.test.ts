// Whoever watches a page must not stop it: every worker, frame and popup of a page runs, also those that workers start.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attachToFirstPage } from '../../../packages/agent/src/cdp/settle.ts'
import { eventually } from '../../fixtures/host.ts'
import { LoginUnderTest, type Page } from '../../fixtures/agent/login-under-test.ts'

const KINDS = [
  'dedicated',
  'nested',
  'innermost',
  'module',
  'blob',
  'shared',
  'service',
  'worklet',
  'frame',
  'popup',
]

const script =
  (source: string): Page =>
  (_request, response) => {
    response.setHeader('content-type', 'text/javascript').end(source)
  }
const PATIENCE_MS = 7_000

const PAGES: Record<string, Page> = {
  '/': `<title>Starting</title><h1>Loading</h1><script>
    const seen = new Set()
    const report = (part) => { seen.add(part); document.querySelector('h1').textContent = [...seen].sort().join(' ') }
    const hear = ({ data }) => report(data)
    addEventListener('message', hear)
    new Worker('/dedicated.js').onmessage = hear
    new Worker('/module.js', { type: 'module' }).onmessage = hear
    new Worker(URL.createObjectURL(new Blob(["postMessage('blob')"], { type: 'text/javascript' }))).onmessage = hear
    new SharedWorker('/shared.js').port.onmessage = hear
    navigator.serviceWorker.register('/service.js')
    navigator.serviceWorker.ready.then(() => report('service'))
    new OfflineAudioContext(1, 128, 44_100).audioWorklet.addModule('/worklet.js').then(() => report('worklet'))
    const frame = document.createElement('iframe')
    // Of another site, so in another process.
    frame.src = '//localhost:' + location.port + '/frame'
    document.body.append(frame)
    globalThis.openPopup = () => { open('/popup', '', 'width=300,height=200') }
  </script><button onclick="openPopup()">Open</button>`,
  '/dedicated.js': script(`postMessage('dedicated')
    new Worker('/nested.js').onmessage = ({ data }) => postMessage(data)`),
  '/nested.js': script(`postMessage('nested')
    new Worker('/innermost.js').onmessage = ({ data }) => postMessage(data)`),
  // It also asks the server, as applications do.
  '/innermost.js': script(
    `fetch('/data').then((answer) => answer.text()).then(() => postMessage('innermost'))`,
  ),
  '/module.js': script(`import '/imported.js'`),
  '/imported.js': script(`postMessage('module')`),
  '/shared.js': script(`addEventListener('connect', ({ ports }) => ports[0].postMessage('shared'))`),
  '/service.js': script(`addEventListener('install', () => skipWaiting())`),
  '/worklet.js': script('0'),
  '/frame': `<script>parent.postMessage('frame', '*')</script>`,
  '/popup': `<script>opener.postMessage('popup', '*')</script>`,
  '/data': 'data',
}

/** What has not reported in time. */
async function missingParts(login: LoginUnderTest): Promise<readonly string[]> {
  using cdp = await login.agent.openCdp()
  const { sessionId } = await attachToFirstPage(cdp)
  const evaluate = async (expression: string) => {
    const options = { expression, returnByValue: true, awaitPromise: true, userGesture: true }
    const { result } = await cdp.call<{ result: { value?: unknown } }>('Runtime.evaluate', options, sessionId)
    return result.value
  }
  await eventually('the page is there', async () => (await evaluate('typeof openPopup')) === 'function')
  const reports = (count: number) =>
    evaluate(`new Promise((resolve) => {
      const shown = () => document.querySelector('h1').textContent.split(' ')
      const end = () => { clearInterval(timer); resolve(shown().join()) }
      const timer = setInterval(() => shown().length >= ${count} && end(), 50)
      setTimeout(end, ${PATIENCE_MS})
    })`)
  await reports(KINDS.length - 1)
  await evaluate('openPopup()')
  const reported = await reports(KINDS.length)
  return KINDS.filter((kind) => !String(reported).split(',').includes(kind))
}

for (const watched of ['a login', 'telemetry', 'a login with telemetry']) {
  test(`${watched} leaves no worker, frame or popup paused`, async (t) => {
    const login = await LoginUnderTest.start(t, PAGES)
    if (watched !== 'a login') {
      const categories = ['console', 'interaction', 'network', 'page', 'system']
      const { status } = await login.agent.call('PUT', '/telemetry', { categories, version: 1 })
      assert.equal(status, 204)
    }
    if (watched === 'telemetry') {
      using cdp = await login.agent.openCdp()
      const { sessionId } = await attachToFirstPage(cdp)
      await cdp.call('Page.navigate', { url: login.url('/') }, sessionId)
    } else {
      const page = await login.visit('/')
      assert.equal(page.is_quiet, true, 'requests for the scripts of workers end')
    }
    assert.deepEqual(await missingParts(login), [])
  })
}
