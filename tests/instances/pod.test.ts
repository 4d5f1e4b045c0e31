// The programs of a Pod, started as a kubelet starts them, and a server's connections to them. What needs a cluster is in
// tests/kubernetes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { chromium, type Browser } from 'playwright-core'
import { pipeBothWays } from '@berth/kit/pipe-both-ways'
import { AgentClient } from '@berth/server/instances/agent/client'
import { startChromium } from '@berth/server/instances/agent/chromium'
import { readState } from '@berth/server/instances/agent/state'
import { PodDialer } from '@berth/server/instances/kubernetes/pod-dialer'
import type { Instance } from '@berth/server/instances/driver/driver'
import { allProcesses, eventually } from '../fixtures/host.ts'
import { newCertificate } from '../fixtures/certificates.ts'
import { holdPod, startPod } from '../fixtures/pod.ts'
import { killAgent, reach, shell } from './agent-shell.ts'
import { skip } from './fixture.ts'

const soon = () => AbortSignal.timeout(20_000)

async function listening(t: TestContext, server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Over a port of ours, as the gateway does. */
async function driveChromium(t: TestContext, instance: Instance, agent: AgentClient): Promise<Browser> {
  const cdp = createServer((client) => {
    client.on('error', () => {})
    void passOn(client, instance.connect('cdp', soon()))
  })
  const port = await listening(t, cdp)
  const { devtools_path: path } = await readState(agent)
  const browser = await chromium.connectOverCDP(`ws://127.0.0.1:${port}${path}`)
  t.after(() => browser.close())
  return browser
}

function isBelow(pid: number, ancestor: number): boolean {
  const parents = new Map(allProcesses().map((each) => [each.pid, each.parent]))
  for (let at: number | undefined = pid; at !== undefined; at = parents.get(at))
    if (at === ancestor) return true
  return false
}

async function passOn(client: Socket, connecting: Promise<Duplex>): Promise<void> {
  try {
    const stream = await connecting
    stream.on('error', () => {})
    pipeBothWays(client, stream)
  } catch {
    client.destroy()
  }
}

test(
  'a browser in a Pod is driven over the link, and its pages go out through the server that holds it',
  { skip, timeout: 90_000 },
  async (t) => {
    const site = createHttpServer((_request, response) => {
      const images = Array.from({ length: 24 }, (_, index) => `<img src="/image?${index}">`)
      response.setHeader('content-type', 'text/html').end(`<title>Hello</title>${images.join('')}`)
    })
    const sitePort = await listening(t, site)
    const pod = await startPod(t)
    // The server's own loopback, under a name that is not one of loopback inside.
    const { instance, egress } = holdPod(t, pod, { allow: [`host.berth.internal:${sitePort}`] })
    await instance.up
    const agent = new AgentClient(instance)
    t.after(() => agent.close())
    await startChromium(
      agent,
      { headless: true, width: 1024, height: 768, kiosk: false },
      { signal: AbortSignal.timeout(40_000) },
    )
    const browser = await driveChromium(t, instance, agent)
    const page = browser.contexts()[0]!.pages()[0]!
    await page.goto(`http://host.berth.internal:${sitePort}/`)
    assert.equal(await page.title(), 'Hello')
    assert.ok(egress.traffic.sent > 0 && egress.traffic.received > 0)
  },
)

test(
  'the bytes of a CDP client do not pass the agent, and the client hears when Chromium ends',
  { skip, timeout: 90_000 },
  async (t) => {
    const pod = await startPod(t)
    const { instance } = holdPod(t, pod)
    await instance.up
    const agent = new AgentClient(instance)
    t.after(() => agent.close())
    await startChromium(
      agent,
      { headless: true, width: 1024, height: 768, kiosk: false },
      { signal: AbortSignal.timeout(40_000) },
    )
    const browser = await driveChromium(t, instance, agent)
    const page = browser.contexts()[0]!.pages()[0]!
    assert.equal(await page.evaluate('1 + 1'), 2)
    // The agent, and nobody else in this Pod.
    const agentPid = allProcesses().find(
      ({ pid, command }) =>
        command.includes('agent.mjs') && isBelow(pid, pod.instance.pid!) && !command.includes('bwrap'),
    )!.pid
    process.kill(agentPid, 'SIGSTOP')
    assert.equal(await page.evaluate('2 + 2'), 4)
    process.kill(agentPid, 'SIGCONT')
    const gone = new Promise<void>((resolve) => browser.once('disconnected', () => resolve()))
    const { stdout } = await shell(
      t,
      instance,
      'grep -l "[r]emote-debugging-port" /proc/[0-9]*/cmdline | cut -d/ -f3',
    )
    await shell(t, instance, `kill -9 ${stdout.split('\n').join(' ')}`)
    await gone
  },
)

test('nothing of the container with the browser is in the network of the Pod', { skip }, async (t) => {
  let arrived = 0
  const canary = createServer((socket) => {
    arrived++
    socket.destroy()
  })
  const port = await listening(t, canary)
  const pod = await startPod(t)
  const { instance } = holdPod(t, pod)
  await instance.up
  const outside = readlinkSync('/proc/self/ns/net')
  // Also those of which the tenant could take over, because they have its uid.
  const { stdout } = await shell(
    t,
    instance,
    'for each in /proc/[0-9]*/ns/net; do readlink $each; done | sort | uniq',
  )
  assert.ok(stdout.length > 0)
  assert.ok(!stdout.includes(outside), stdout)
  const addresses = await shell(t, instance, 'cat /proc/1/net/dev /proc/net/route /proc/1/net/route')
  assert.doesNotMatch(addresses.stdout, /eth|wlan|bck/)
  assert.equal(await reach(t, instance, '127.0.0.1', port), 'ECONNREFUSED')
  assert.equal(arrived, 0)
})

test(
  'the tenant sees only its own processes, and those that lose their parent are reaped',
  { skip },
  async (t) => {
    const pod = await startPod(t)
    const { instance } = holdPod(t, pod)
    await instance.up
    const { stdout } = await shell(t, instance, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')
    assert.match(stdout, /pod-instance/)
    // The program of the other container, which has the key.
    assert.doesNotMatch(stdout, /pod-link/)
    await shell(t, instance, 'for each in 1 2 3 4 5; do (setsid sh -c "sleep 0.1 &" &) ; done; sleep 1')
    const { stdout: zombies } = await shell(
      t,
      instance,
      'grep -l "^State:.Z" /proc/[0-9]*/status 2>/dev/null | wc -l',
    )
    assert.equal(zombies, '0')
  },
)

test('a stranger without the key is refused, and so is a Pod without it', { skip }, async (t) => {
  const pod = await startPod(t)
  const wrongKey = new PodDialer({
    ...pod,
    key: Buffer.alloc(32),
    address: { host: '127.0.0.1', port: pod.port },
  })
  await assert.rejects(wrongKey.dial(soon(), 'connect api'), /Cannot reach instance/)
  const wrongId = new PodDialer({ id: 'other', key: pod.key, address: { host: '127.0.0.1', port: pod.port } })
  await assert.rejects(wrongId.dial(soon(), 'connect api'), /Cannot reach instance/)
  const plain = connectTls({ host: '127.0.0.1', port: pod.port, rejectUnauthorized: false })
  const [error] = (await once(plain, 'error')) as [Error]
  assert.match(error.message, /alert|hang up|disconnected|reset/i)
  // Somebody else at the address of the Pod, with a certificate.
  const { cert, key } = newCertificate('127.0.0.1')
  let heard = ''
  const impostor = createTlsServer({ cert, key }, (socket) =>
    socket.on('data', (chunk) => (heard += String(chunk))),
  )
  impostor.on('tlsClientError', () => {})
  const port = await listening(t, impostor)
  const toImpostor = new PodDialer({ ...pod, address: { host: '127.0.0.1', port } })
  await assert.rejects(toImpostor.dial(soon(), 'hold token 0'), /Cannot reach instance/)
  assert.equal(heard, '')
})

test('another server takes a Pod over; the first is told, and cannot take it back', { skip }, async (t) => {
  const pod = await startPod(t)
  const first = holdPod(t, pod)
  await first.instance.up
  const second = holdPod(t, pod, { term: 7 })
  await second.instance.up
  assert.equal(await first.instance.ended, 'taken-over')
  await first.instance.destroy()
  assert.equal(pod.link.exitCode, null, 'who lost a Pod must not delete it')
  const late = holdPod(t, pod, { term: 3 })
  assert.equal(await late.instance.ended, 'taken-over')
  const { stdout } = await shell(t, second.instance, 'echo still here')
  assert.equal(stdout, 'still here')
})

test('a Pod says how its instance ended', { skip }, async (t) => {
  const pod = await startPod(t)
  const { instance } = holdPod(t, pod)
  await instance.up
  const agent = new AgentClient(instance)
  t.after(() => agent.close())
  await readState(agent)
  await killAgent(t, instance)
  assert.equal(await instance.ended, 'ended-by-itself')
  await eventually('both programs end', () => pod.link.exitCode !== null || pod.link.signalCode !== null)
})

test('a Pod that no server holds any more ends itself', { skip, timeout: 60_000 }, async (t) => {
  const pod = await startPod(t, { leaseSeconds: 2 })
  const { instance } = holdPod(t, pod, { leaseSeconds: 2 })
  await instance.up
  await instance.release()
  await Promise.all([once(pod.link, 'exit'), once(pod.instance, 'exit')])
  assert.match(pod.output(), /The instance is over: lease-lapsed/)
})
