// A client that means harm has all of CDP. It may ruin its own browser; it gets no further.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { CdpClient } from '../fixtures/cdp.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, readSession } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const owner = { after }
const SECRET = 'canary-of-the-host'
const site = await startSite(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...site.allow, CANARY: SECRET },
})
const canaryFile = join(server.dataDir, 'canary')
writeFileSync(canaryFile, SECRET, { mode: 0o644 })

let reached = 0
const canary = createServer((socket) => {
  reached++
  socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${SECRET.length}\r\n\r\n${SECRET}`)
}).listen(0, '127.0.0.1')
await once(canary, 'listening')
cleanUpAfter(owner, () => void canary.close())
const canaryAddress = `127.0.0.1:${(canary.address() as AddressInfo).port}`

const session = await createSession(server)
const neighbour = await createSession(server)
const neighbourClient = await CdpClient.open(neighbour.cdp_ws_url)
cleanUpAfter(owner, () => neighbourClient.terminate())

/** Whatever was done, the session can be used, its neighbour was not disturbed, and the server is well. */
async function isWell(): Promise<void> {
  const client = await CdpClient.open(session.cdp_ws_url)
  await client.callPage('Page.navigate', { url: 'about:blank' })
  assert.equal(await client.evaluate('1 + 1'), 2)
  client.terminate()
  assert.equal(await neighbourClient.evaluate('6 * 7'), 42)
  assert.equal((await readSession(server, session.session_id)).end_reason, undefined)
  assert.equal((await server.fetch('/health')).status, 200)
}

async function withClient<T>(work: (client: CdpClient) => Promise<T>): Promise<T> {
  const client = await CdpClient.open(session.cdp_ws_url)
  try {
    return await work(client)
  } finally {
    client.terminate()
  }
}

for (const { what, attack } of [
  { what: 'Browser.close', attack: (cdp: CdpClient) => cdp.call('Browser.close') },
  { what: 'Browser.crash', attack: (cdp: CdpClient) => cdp.call('Browser.crash') },
  { what: 'Browser.crashGpuProcess', attack: (cdp: CdpClient) => cdp.call('Browser.crashGpuProcess') },
  { what: 'Page.crash', attack: (cdp: CdpClient) => cdp.callPage('Page.crash') },
  {
    what: 'the end of the last page',
    attack: async (cdp: CdpClient) => {
      const { targetInfos } = await cdp.call<{ targetInfos: { targetId: string; type: string }[] }>(
        'Target.getTargets',
      )
      for (const { targetId, type } of targetInfos) {
        if (type === 'page') await cdp.call('Target.closeTarget', { targetId })
      }
    },
  },
  {
    what: 'a trace of everything',
    attack: (cdp: CdpClient) =>
      cdp.call('Tracing.start', {
        traceConfig: { includedCategories: ['*'] },
        transferMode: 'ReturnAsStream',
      }),
  },
  {
    what: 'nonsense',
    attack: async (cdp: CdpClient) => {
      for (const [method, params] of [
        ['IO.read', { handle: '../../etc/passwd' }],
        ['SystemInfo.getProcessInfo', {}],
        ['No.such', { deep: { deeper: [] } }],
        ['Target.attachToTarget', { targetId: 'x'.repeat(100_000) }],
        ['Target.setRemoteLocations', { locations: [{ host: '127.0.0.1', port: 1 }] }],
      ] as const) {
        await cdp.call(method, params).catch(() => {})
      }
    },
  },
]) {
  test(`after ${what} the same URL leads to a working browser`, async () => {
    // Whether it is answered is Chromium's matter.
    await withClient((client) => Promise.race([attack(client).catch(() => {}), delay(1_000)]))
    await isWell()
  })
}

test('no page of Chromium and no file shows anything of the host', async () => {
  await withClient(async (client) => {
    for (const url of [
      'file:///etc/passwd',
      'file:///proc/1/environ',
      'file:///proc/self/environ',
      'file:///proc/1/cmdline',
      'file:///run',
      'file:///root',
      `file://${canaryFile}`,
      `view-source:file://${canaryFile}`,
      'chrome://version',
      'chrome://policy',
      'chrome://inspect',
      'chrome://settings',
      'devtools://devtools/bundled/inspector.html',
      'filesystem:file:///persistent/',
    ]) {
      await client.callPage('Page.navigate', { url }).catch(() => {})
      const text = await client.evaluate<string>('document.documentElement?.outerHTML ?? ""').catch(() => '')
      // What was asked for may be repeated in the refusal.
      const shown = text.replaceAll(canaryFile, '')
      for (const secret of [SECRET, server.dataDir, 'BERTH_', server.key]) {
        assert.ok(!shown.includes(secret), `${url} shows ${secret}`)
      }
    }
  })
  await isWell()
})

test('a browser context with another proxy, or none, leads nowhere', async () => {
  await withClient(async (client) => {
    for (const proxyServer of ['direct://', `http://${canaryAddress}`, `socks5://${canaryAddress}`]) {
      const { browserContextId } = await client.call<{ browserContextId: string }>(
        'Target.createBrowserContext',
        { proxyServer, proxyBypassList: '*' },
      )
      const { targetId } = await client.call<{ targetId: string }>('Target.createTarget', {
        url: 'about:blank',
        browserContextId,
      })
      const { sessionId } = await client.call<{ sessionId: string }>('Target.attachToTarget', {
        targetId,
        flatten: true,
      })
      for (const url of [`http://${canaryAddress}/`, 'http://169.254.169.254/', `${site.url}/`]) {
        const { errorText } = await client.call<{ errorText?: string }>(
          'Page.navigate',
          { url },
          { sessionId },
        )
        const { result } = await client.call<{ result: { value: string } }>(
          'Runtime.evaluate',
          { expression: 'document.documentElement?.outerHTML ?? ""', returnByValue: true },
          { sessionId },
        )
        assert.ok(!result.value.includes(SECRET), `${proxyServer} ${url}`)
        assert.ok(errorText, `${url} by ${proxyServer} is an error`)
      }
      await client.call('Target.disposeBrowserContext', { browserContextId })
    }
  })
  assert.equal(reached, 0, 'nobody came to the canary')
  await isWell()
})

test('downloads and file inputs stay inside the instance', async () => {
  await withClient(async (client) => {
    await client.callPage('Page.navigate', { url: `${site.url}/` })
    for (const downloadPath of ['/', '/root', '/proc/1/cwd', '/home/kernel/../../root', server.dataDir]) {
      await client.call('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath }).catch(() => {})
      await client.evaluate(`document.querySelector('#file').click()`).catch(() => {})
    }
    await client.evaluate(`document.body.innerHTML = '<input type=file>'`)
    const { root } = await client.callPage<{ root: { nodeId: number } }>('DOM.getDocument')
    const { nodeId } = await client.callPage<{ nodeId: number }>('DOM.querySelector', {
      nodeId: root.nodeId,
      selector: 'input',
    })
    for (const file of ['/proc/self/mem', canaryFile, '/etc/shadow', '/proc/1/environ']) {
      await client.callPage('DOM.setFileInputFiles', { nodeId, files: [file] }).catch(() => {})
      const text = await client
        .evaluate<string>(`document.querySelector('input').files[0]?.slice(0, 4096).text() ?? ''`)
        .catch(() => '')
      assert.ok(!text.includes(SECRET), file)
    }
  })
  for (const directory of ['/', '/root', server.dataDir]) {
    assert.ok(!existsSync(join(directory, 'cargo.bin')), `a download came to ${directory}`)
  }
  await isWell()
})
