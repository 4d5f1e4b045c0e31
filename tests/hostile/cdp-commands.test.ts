// A CDP client that attacks the host with commands that end, stop, flood or reach out. The session continues or
// restarts Chromium, the server is not affected, and the canaries on the host are not seen.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { instancesDirOf } from '@berth/server/instances/local/instances-place'
import { ServerDatabase } from '../conformance/server-database.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'
import { HostileClient } from './hostile-client.ts'
import { startCanaries } from './host-canaries.ts'
import { assertNoFaultLogged } from './server-log.ts'
import { tokenOf } from './session-openings.ts'

const owner = { after }
const site = await startSite(owner)
const canaries = await startCanaries(owner)
const server = await startServer(owner, {
  // The test searches its data directory.
  hasOwnPostgres: true,
  hasRealInstances: true,
  env: { ...site.allow, ...canaries.environment, BERTH_LOG_LEVEL: 'debug' },
})
const session = await createSession(server)
/** Everything that Chromium answered. */
const transcript: string[] = []
const connect = () => HostileClient.open(session.cdp_ws_url, transcript)

async function targetsOf(client: HostileClient): Promise<{ targetId: string; type: string }[]> {
  const { targetInfos } = await client.call<{ targetInfos: { targetId: string; type: string }[] }>(
    'Target.getTargets',
  )
  return targetInfos
}

async function assertWorks(what: string): Promise<void> {
  const client = await connect()
  const page = await client.newPage()
  assert.equal(await client.evaluate(page, '6 * 7'), 42, `after ${what}`)
  await client.closePage(page)
  client.close()
}

for (const [method, params] of [
  ['Browser.close', {}],
  ['Browser.crash', {}],
  ['Browser.crashGpuProcess', {}],
] as const) {
  test(`${method} does not end the session`, async () => {
    const client = await connect()
    await client.send(method, params)
    if (method === 'Browser.crash') await client.closed()
    client.close()
    await assertWorks(method)
  })
}

test('a browser that was just closed is resized once it runs again', async () => {
  const client = await connect()
  const closed = client.send('Browser.close')
  const viewport = { width: 900, height: 700 }
  assert.equal((await send(server, 'PATCH', `/browsers/${session.session_id}`, { viewport })).status, 200)
  await closed
  const again = await send(server, 'PATCH', `/browsers/${session.session_id}`, {
    viewport: { width: 910, height: 700 },
  })
  assert.equal(again.status, 200)
  client.close()
  await assertWorks('resizing')
})

test('a page that crashes affects nothing else', async () => {
  const client = await connect()
  const page = await client.newPage()
  const crash = client.send('Page.crash', {}, page)
  const other = await client.newPage()
  assert.equal(await client.evaluate(other, '6 * 7'), 42)
  client.close()
  assert.equal((await crash).result, undefined)
  await assertWorks('Page.crash')
})

test('a browser without pages keeps running and can open a new page', async () => {
  const client = await connect()
  for (const { targetId, type } of await targetsOf(client)) {
    if (type === 'page') await client.call('Target.closeTarget', { targetId })
  }
  client.close()
  await assertWorks('closing the last page')
  const viewport = { width: 800, height: 600 }
  assert.equal((await send(server, 'PATCH', `/browsers/${session.session_id}`, { viewport })).status, 200)
})

test('system queries, endless traces and invalid handles are harmless', async () => {
  const client = await connect()
  const page = await client.newPage()
  const before = server.pid
  for (const [method, params, where] of [
    ['SystemInfo.getInfo', {}, undefined],
    ['SystemInfo.getProcessInfo', {}, undefined],
    ['SystemInfo.getFeatureState', { featureState: 'x'.repeat(100_000) }, undefined],
    ['Browser.getBrowserCommandLine', {}, undefined],
    ['Browser.getVersion', {}, undefined],
    ['IO.read', { handle: '../../../../etc/passwd' }, page],
    ['IO.read', { handle: '1', offset: -1, size: 2 ** 31 }, page],
    ['IO.read', { handle: 'blob:null/x', size: 1e9 }, undefined],
    ['IO.resolveBlob', { objectId: '{"injectedScriptId":1,"id":1}' }, page],
    ['IO.close', { handle: 'x'.repeat(1_000_000) }, page],
    ['Tracing.start', { transferMode: 'ReturnAsStream', categories: '*', bufferUsageReportingInterval: 1 }],
    ['Tracing.requestMemoryDump', { levelOfDetail: 'detailed' }],
    ['Memory.forciblyPurgeJavaScriptMemory', {}, page],
    ['No.suchMethod', { deep: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) as unknown }],
  ] as const) {
    await client.send(method, params, where)
  }
  // The trace keeps running after its client is gone.
  client.close()
  await assertWorks('a trace without an end')
  assert.equal(server.pid, before)
  assert.equal(server.process.exitCode, null)
})

test('downloads stay in the instance, whatever their path', async () => {
  const client = await connect()
  const places = [
    '/',
    '/proc',
    '/etc',
    '/usr',
    '/run/berth',
    '/run/berth-agent',
    '../../../../..',
    '/dev/shm',
  ]
  const before = hostFiles()
  for (const downloadPath of [...places, instancesDirOf(server.dataDir)]) {
    const { browserContextId } = await client.call<{ browserContextId: string }>(
      'Target.createBrowserContext',
    )
    const page = await client.newPage({ browserContextId })
    const options = { behavior: 'allow', downloadPath }
    await client.send('Browser.setDownloadBehavior', { ...options, browserContextId, eventsEnabled: true })
    await client.send('Page.setDownloadBehavior', options, page)
    await client.send('Page.navigate', { url: `${site.url}/file` }, page)
    await client.call('Target.disposeBrowserContext', { browserContextId })
  }
  assert.ok(site.requests.filter((path) => path === '/file').length >= places.length)
  client.close()
  assert.deepEqual(hostFiles(), before)
  await assertWorks('downloads')
})

/** Where a download would be if a path in the instance meant a path on the host. */
function hostFiles(): string[] {
  const places = ['/', '/etc', '/usr', '/dev/shm', server.dataDir, instancesDirOf(server.dataDir)]
  return places.flatMap((path) => readdirSync(path).filter((name) => /cargo|crdownload/.test(name)))
}

test('file inputs get only files of the instance', async () => {
  const client = await connect()
  const page = await client.newPage()
  await client.visit(page, 'data:text/html,<input type=file multiple>')
  const { root } = await client.call('DOM.getDocument', {}, page)
  const query = { nodeId: (root as { nodeId: number }).nodeId, selector: 'input' }
  const { nodeId } = await client.call('DOM.querySelector', query, page)
  const read = `Promise.all([...document.querySelector('input').files].map((file) => Promise.race([
      file.slice(0, 65536).text().catch((error) => String(error)),
      new Promise((resolve) => setTimeout(resolve, 1000, 'takes too long'))])))`
  const paths = [
    canaries.file,
    join(server.dataDir, 'api-key'),
    join(server.dataDir, 'master-keys'),
    '/etc/shadow',
    '/etc/passwd',
    '/proc/self/mem',
    '/proc/1/environ',
    '/proc/1/root/etc/shadow',
    '/proc/kcore',
    '/proc/self/mountinfo',
    '/dev/mem',
    '/dev/zero',
    '/',
    '..',
    '../../../../../etc/shadow',
  ]
  const found: Record<string, string> = {}
  for (const path of paths) {
    const { error } = await client.send('DOM.setFileInputFiles', { files: [path], nodeId }, page)
    found[path] = error ?? String(await client.evaluate(page, read))
  }
  assert.match(found['/etc/passwd']!, /^root:x:0:0:.*\nkernel:x:1000:/, 'the instance’s own')
  assert.doesNotMatch(found['/etc/passwd']!, /berth:x:/)
  assert.doesNotMatch(JSON.stringify(found), /root:[*$!]/)
  client.close()
})

test('internal pages of the browser show nothing of the host', async () => {
  const client = await connect()
  const devtools = `ws=127.0.0.1:9222/devtools/page/${(await targetsOf(client))[0]!.targetId}`
  const read: Record<string, string> = {}
  for (const url of [
    'chrome://settings',
    'chrome://policy',
    'chrome://inspect',
    'chrome://version',
    'chrome://gpu',
    'chrome://restart',
    'chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/x.html',
    'view-source:file:///etc/passwd',
    `view-source:file://${canaries.file}`,
    `devtools://devtools/bundled/inspector.html?${devtools}`,
    `devtools://devtools/bundled/devtools_app.html?ws=127.0.0.1:${canaries.port}/x`,
    'file:///proc/self/environ',
    'file:///proc/cmdline',
    'file:///proc/1/root/',
    'file:///proc/1/fd/',
    `file://localhost${canaries.file}`,
    `filesystem:file://${canaries.file}`,
    `file:///run/berth/../../..${canaries.file}`,
  ]) {
    const page = await client.newPage()
    read[url] = await client.visit(page, url)
    await client.closePage(page)
  }
  assert.match(read['chrome://version']!, /Chromium/, 'pages of the browser can be read by this test')
  for (const [url, text] of Object.entries(read)) {
    assert.ok(!text.includes('berth:x:'), `${url} shows the accounts of the host`)
  }
  client.close()
  await assertWorks('pages of the browser')
})

test('no proxy of a context leads around egress', async () => {
  const client = await connect()
  const target = `http://127.0.0.1:${canaries.port}/`
  for (const proxyServer of [
    'direct://',
    `127.0.0.1:${canaries.port}`,
    `http://127.0.0.1:${canaries.port}`,
    `https://127.0.0.1:${canaries.port}`,
    `socks5://127.0.0.1:${canaries.port}`,
    `socks4://127.0.0.1:${canaries.port}`,
    `quic://127.0.0.1:${canaries.port}`,
    `http=direct://;https=127.0.0.1:${canaries.port}`,
  ]) {
    const { result, error } = await client.send('Target.createBrowserContext', {
      proxyServer,
      proxyBypassList: '*',
    })
    if (error !== undefined) continue
    const browserContextId = result!['browserContextId'] as string
    const page = await client.newPage({ browserContextId })
    for (const url of [target, 'http://169.254.169.254/latest/meta-data/', 'http://10.0.0.1/']) {
      const text = await client.visit(page, url)
      assert.ok(!text.includes(canaries.secret), `${proxyServer} leads to ${url}`)
    }
    await client.call('Target.disposeBrowserContext', { browserContextId })
  }
  const page = await client.newPage()
  await client.send('Security.setIgnoreCertificateErrors', { ignore: true }, page)
  await client.visit(page, `https://127.0.0.1:${canaries.port}/`)
  const { frameTree } = await client.call('Page.getFrameTree', {}, page)
  const { id: frameId } = (frameTree as { frame: { id: string } }).frame
  for (const url of [target, `file://${canaries.file}`, `ftp://127.0.0.1:${canaries.port}/`]) {
    const options = { disableCache: true, includeCredentials: true }
    await client.send('Network.loadNetworkResource', { frameId, url, options }, page)
  }
  const locations = [{ host: '127.0.0.1', port: canaries.port }]
  await client.send('Target.setRemoteLocations', { locations })
  // A new page: an earlier test left one with a file input, for which Chromium never answers.
  const { targetInfo } = await client.call<{ targetInfo: { targetId: string } }>(
    'Target.getTargetInfo',
    {},
    page,
  )
  const { targetId } = targetInfo
  await client.send('Target.exposeDevToolsProtocol', { targetId, bindingName: 'cdp' })
  await client.send('Network.setExtraHTTPHeaders', { headers: { 'Proxy-Authorization': 'Basic eDp5' } }, page)
  await client.visit(page, `${site.url}/popup`)
  client.close()
  await assertWorks('ways around the proxy')
})

test('the canaries on the host were neither seen nor touched, and no token was logged', async () => {
  assert.equal(canaries.touches(), 0)
  const said = transcript.join('\n')
  assert.ok(said.length > 10_000)
  assert.ok(!said.includes(canaries.secret), 'a canary was seen')
  for (const secret of [server.key, 'DATABASE_URL', 'BERTH_']) assert.ok(!said.includes(secret), secret)

  const database = await ServerDatabase.open(owner, server)
  const metrics = await (await server.fetch('/metrics')).text()
  const kept = [server.output(), metrics, JSON.stringify(await database.dump())].join('\n')
  assert.match(server.output(), /client disconnected/, 'the log is detailed')
  for (const url of [session.cdp_ws_url, session.webdriver_ws_url]) {
    for (const part of tokenOf(url).split('.').slice(1)) assert.ok(!kept.includes(part), 'a token was kept')
  }
})

test('no command caused a server error', async () => {
  assertNoFaultLogged(server)
  const other = await createSession(server)
  const client = await HostileClient.open(other.cdp_ws_url)
  const page = await client.newPage()
  assert.equal(await client.evaluate(page, '6 * 7'), 42)
  client.close()
})
