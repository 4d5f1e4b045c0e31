// Isolation of a session from the host, seen from both sides: the host's /proc for a claimed warm instance, and what
// a page and Chromium can reach. Canaries on the host are never touched.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'
import { instancesDirOf } from '@berth/server/instances/local/instances-place'
import { client84 } from '../client/versions.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { allProcesses, instanceDirs, instanceGroups } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { startSite } from '../fixtures/site.ts'

const fileOwner = { after }
const site = await startSite(fileOwner)
const server = await startServer(fileOwner, {
  hasOwnPostgres: true,
  hasRealInstances: true,
  env: {
    ...site.allow,
    BERTH_WARM_HEADLESS: '1',
    BERTH_SESSION_MEMORY_MB: '1500',
    BERTH_SESSION_PROCESSES: '777',
    BERTH_SESSION_CPUS: '1',
  },
})
const { browsers } = client84(server)

/** Counts connections to a loopback port of the host that no session may reach. */
const canary = createServer((socket) => {
  canaryCount++
  socket.destroy()
})
let canaryCount = 0
canary.listen(0, '127.0.0.1')
await once(canary, 'listening')
const canaryPort = (canary.address() as AddressInfo).port
cleanUpAfter(fileOwner, () => void canary.close())
const canaryFile = join(server.dataDir, 'canary')
writeFileSync(canaryFile, 'canary-of-the-host', { mode: 0o644 })

while (!/berth_warm_instances\{kind="headless"\} 1/.test(await (await server.fetch('/metrics')).text())) {
  await pause(50)
}
const [warmId] = instanceDirs(server.dataDir)
const session = await browsers.create({ headless: true, timeout_seconds: 600 })
const browser = await chromium.connectOverCDP(session.cdp_ws_url)
cleanUpAfter(fileOwner, () => browser.close())

async function withPage(work: (page: Page) => Promise<void>): Promise<void> {
  const page = await browser.contexts()[0]!.newPage()
  try {
    await work(page)
  } finally {
    await page.close()
  }
}

interface ProcessView {
  readonly pid: string
  readonly command: string
  readonly status: Record<string, string>
}

function processesOf(instanceId: string): ProcessView[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(instanceId)) return []
        const status = Object.fromEntries(
          readFileSync(`/proc/${pid}/status`, 'utf8')
            .split('\n')
            .map((line) => line.split(/:\s*/, 2) as [string, string]),
        )
        // The bubblewrap process that waits outside the sandbox has no data of the tenant.
        if (status['NSpid']!.trim().split(/\s+/).length < 2) return []
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return [{ pid, command, status }]
      } catch {
        return []
      }
    })
}

test('every process of a claimed warm instance is unprivileged, filtered and in its own namespaces', () => {
  const processes = processesOf(warmId!)
  assert.ok(processes.length >= 5, 'agent and Chromium run in it')
  assert.ok(processes.some(({ command }) => command.includes('chromium')))
  const uids = new Map<string, string[]>()
  for (const { command, status } of processes) {
    const [uid] = status['Uid']!.split(/\s+/)
    assert.notEqual(uid, '0', command)
    uids.set(uid!, [...(uids.get(uid!) ?? []), command])
    assert.equal(status['NoNewPrivs'], '1', command)
    assert.equal(status['Seccomp'], '2', command)
  }
  // The agent and the first process have a uid of their own, and Chromium another.
  assert.equal(uids.size, 2, [...uids.keys()].join())
  const ofAgent = [...uids.values()].find((commands) =>
    commands.some((words) => words.includes('agent.mjs')),
  )!
  assert.equal(ofAgent.length, 2, ofAgent.join())
  assert.ok(!ofAgent.some((command) => command.startsWith('/usr/lib/chromium')))
  const agent = processes.find(({ command }) => command.includes('agent.mjs') && !command.includes('bwrap'))!
  for (const namespace of ['user', 'pid', 'mnt', 'ipc', 'uts', 'net', 'cgroup']) {
    assert.notEqual(
      readlinkSync(`/proc/${agent.pid}/ns/${namespace}`),
      readlinkSync(`/proc/self/ns/${namespace}`),
      namespace,
    )
  }
  // Over its own user namespace: KILL, SETGID, SETUID, NET_ADMIN and SYS_NICE.
  assert.equal(Number.parseInt(agent.status['CapPrm']!, 16), 0x8010e0)
  assert.equal(Number.parseInt(agent.status['CapBnd']!, 16), 0)
})

test('all processes of its uid are in its control groups, which have its limits', () => {
  const inGroups = processesOf(warmId!)
  const uids = new Set(inGroups.map(({ status }) => Number(status['Uid']!.split(/\s+/)[0])))
  const underUid = allProcesses().filter((each) => uids.has(each.uid))
  assert.ok(underUid.length >= inGroups.length)
  for (const { pid, command } of underUid) {
    const groups = readIfThere(`/proc/${pid}/cgroup`)
    assert.ok(groups === undefined || groups.includes(warmId!), command)
  }
  const limits = instanceGroups(warmId!).flatMap((group) => {
    const read = (name: string) => readIfThere(join(group, name))?.trim()
    const quota = read('cpu.cfs_quota_us')
    return [
      ['memory', read('memory.limit_in_bytes') ?? read('memory.max')],
      ['processes', read('pids.max')],
      ['cpus', read('cpu.max') ?? (quota && `${quota} ${read('cpu.cfs_period_us')}`)],
    ].filter(([, value]) => value !== undefined)
  })
  const { memory, processes, cpus } = Object.fromEntries(limits) as Record<string, string>
  assert.equal(memory, String(1500 * 1024 * 1024))
  assert.equal(processes, '777')
  const [quota, period] = cpus!.split(' ').map(Number)
  assert.equal(quota! / period!, 1)
})

/** Undefined if it ended after it was listed. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

test("Chromium's own sandbox is on", async () => {
  const other = await browser.contexts()[0]!.newPage()
  await other.goto('chrome://sandbox')
  const text = await other.textContent('body')
  assert.match(text!, /You are adequately sandboxed/)
  await other.close()
})

test('a page can open only files of the instance', async () => {
  for (const path of [
    '/etc/passwd',
    '/proc/1/environ',
    '/proc/self/mountinfo',
    canaryFile,
    '/root',
    '/run',
  ]) {
    await withPage(async (page) => {
      await page.goto(`file://${path}`).catch(() => {})
      const content = await page.content().catch(() => '')
      for (const secret of ['canary-of-the-host', 'BERTH_', 'berth:x:']) {
        assert.ok(!content.includes(secret), `${path} shows ${secret}`)
      }
    })
  }
})

test('no spelling of a private address works', async () => {
  const hosts = [
    '127.0.0.1',
    'localhost',
    'localhost.',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127。0。0。1',
    '①②⑦.⓪.⓪.①',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[::127.0.0.1]',
    '0',
    'host.berth.internal',
  ].map((host) => `${host}:${canaryPort}`)
  const elsewhere = [
    '169.254.169.254',
    '[fd00:ec2::254]',
    '100.64.0.1',
    '198.18.0.1',
    '10.0.0.1',
    '224.0.0.1',
  ]
  for (const target of [...hosts, ...elsewhere]) {
    await withPage(async (page) => {
      const response = await page.goto(`http://${target}/`, { timeout: 10_000 }).catch(() => null)
      assert.ok(response === null || response.status() >= 400, `${target} answered ${response?.status()}`)
    })
  }
  for (const away of [`http://127.0.0.1:${canaryPort}/`, `file://${canaryFile}`, 'http://169.254.169.254/']) {
    await withPage(async (page) => {
      await page.goto(`${site.url}/away?to=${away}`, { timeout: 10_000 }).catch(() => {})
      const content = await page.content().catch(() => '')
      assert.ok(!content.includes('canary-of-the-host'), away)
    })
  }
  assert.equal(canaryCount, 0)
})

test('a page cannot reach the debugging port', async () => {
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '127.1', 'x.localhost']) {
    await withPage(async (page) => {
      const response = await page.goto(`http://${host}:9222/json/version`).catch(() => null)
      const text = (await response?.text().catch(() => '')) ?? ''
      assert.ok(!text.includes('webSocketDebuggerUrl'), `${host}: ${text}`)
    })
  }
})

test('WebRTC finds no address', async () => {
  await withPage(async (page) => {
    await page.goto(site.url)
    const candidates = await page.evaluate(`(async () => {
      const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:stun.example.com' }] })
      const found = []
      connection.onicecandidate = ({ candidate }) => candidate?.candidate && found.push(candidate.candidate)
      connection.createDataChannel('x')
      await connection.setLocalDescription(await connection.createOffer())
      await new Promise((resolve) => setTimeout(resolve, 1500))
      connection.close()
      return found
    })()`)
    assert.deepEqual(candidates, [])
  })
})

test("if 127.0.0.0/8 is allowed, loopback in a page is the host's; otherwise it is the instance's own", async (t) => {
  await withPage(async (page) => {
    await assert.rejects(page.goto(`http://127.0.0.1:${site.port}/`), /ERR_CONNECTION_REFUSED/)
  })
  const open = await startServer(t, {
    hasRealInstances: true,
    env: { BERTH_EGRESS_ALLOW: '127.0.0.0/8' },
  })
  const made = await client84(open).browsers.create({ headless: true })
  const local = await chromium.connectOverCDP(made.cdp_ws_url)
  const page = local.contexts()[0]!.pages()[0]!
  for (const host of ['127.0.0.1', 'localhost']) {
    await page.goto(`http://${host}:${site.port}/`)
    assert.equal(await page.title(), 'Home')
  }
  await local.close()
})

test('the server that root started is not root, has no capabilities, and can get none', () => {
  const keeper = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
  assert.match(keeper, /^Uid:\t0\t0\t0\t0$/m)
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]
  for (const name of ['Uid', 'Gid'])
    assert.ok(!field(name)!.split('\t').includes('0'), `${name} ${field(name)}`)
  for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
    assert.match(field(name)!, /^0+$/, `${name} is empty`)
  assert.equal(field('NoNewPrivs'), '1')
  assert.match(status, /^Groups:\s*$/m)

  // As the server, with its view of the files.
  const [uid] = field('Uid')!.split('\t')
  const [gid] = field('Gid')!.split('\t')
  const become = [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--no-new-privs',
    'sh',
    '-c',
  ]
  const enter = ['--target', String(server.pid), '--mount', ...become]
  const tried = (script: string) =>
    spawnSync('nsenter', [...enter, script], {
      encoding: 'utf8',
      env: { ...process.env, DIR: server.dataDir, INSTANCES: instancesDirOf(server.dataDir) },
    })
  const ownFile = tried('cat "$DIR/server-id" && echo "$$" > "$DIR/own" && rm "$DIR/own"')
  assert.equal(ownFile.status, 0, ownFile.stderr)
  for (const script of [
    'cat /etc/shadow',
    'cat /proc/1/environ',
    `cat /proc/${server.process.pid}/environ`,
    `kill -0 ${server.process.pid}`,
    'ls "$DIR/instances"',
    'echo x > "$DIR/instances/file"',
    `echo x > "$INSTANCES/${warmId}/pub/file"`,
    `rm -f "$INSTANCES/${warmId}/instance.json"`,
    `rm -f "$INSTANCES/${warmId}/pub/egress.sock"`,
    'mv "$DIR/instances" "$DIR/renamed"',
    'ls "$INSTANCES"',
    'mv "$INSTANCES" "$INSTANCES.renamed"',
    'rmdir "$INSTANCES/.shared"',
    'chmod 0777 "$DIR"',
  ]) {
    const { status: code, stderr } = tried(script)
    assert.notEqual(code, 0, script)
    assert.match(stderr, /denied|not permitted/i, script)
  }
})

test('the server has priority over processes in instances', () => {
  assert.equal(niceOf(server.pid), -10)
  assert.equal(niceOf(server.process.pid!), -10, 'and so has its keeper')
  const own = processesOf(warmId!).filter(({ command }) => !command.includes('--type='))
  assert.ok(own.length > 1)
  // Chromium itself changes the priority of its helpers.
  for (const { pid, command } of own) assert.ok(niceOf(pid) >= 0, command)
})

function niceOf(pid: number | string): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' ')[16])
}
