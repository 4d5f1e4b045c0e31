// Programs that every instance needs are replaced by ones that fail or hang. Only one server sees them, through its
// own mount namespace.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { SystemFiles } from '@berth/server/instances/local/system-files'
import { installationRoot } from '@berth/server/platform/files/installation'
import { agrees } from '../fixtures/agreement.ts'
import { withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'

/** As instances see it. */
const CHROMIUM = join(new SystemFiles(installationRoot).path, '/usr/lib/chromium/chromium')
const BWRAP = '/usr/bin/bwrap'
const fails = 'echo "this is broken" >&2; exit 1'
const hangs = 'exec sleep 1000'

const UNSHARE = ['unshare', '--mount', '--propagation', 'private']
const startApart = (t: TestContext, options: { prefix?: string[]; env?: Record<string, string> } = {}) =>
  startServer(t, { hasRealInstances: true, prefix: UNSHARE, ...options })

function program(t: TestContext, script: string): string {
  const path = join(tempDir(t), 'program')
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return path
}

/** Changes the server's view of the files from now on. */
function inItsView(server: TestServer, command: string, ...args: string[]): void {
  execFileSync('nsenter', ['--target', String(server.process.pid), '--mount', command, ...args])
}

const replace = (server: TestServer, path: string, by: string) =>
  inItsView(server, 'mount', '--bind', by, path)
const restore = (server: TestServer, path: string) => inItsView(server, 'umount', path)

async function create(server: TestServer) {
  const startedAt = performance.now()
  const answer = await send(server, 'POST', '/browsers', { headless: true })
  return { ...answer, seconds: (performance.now() - startedAt) / 1000 }
}

async function nothingIsLeft(server: TestServer): Promise<void> {
  await agrees(server)
  const rows = await query<{ end_reason: string }>(server, 'SELECT end_reason FROM browsers')
  assert.ok(rows.every(({ end_reason }) => end_reason === 'start_failed'))
}

async function worksAgain(server: TestServer): Promise<void> {
  const { cdp_ws_url } = await createSession(server)
  assert.equal(await withCdp(cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
}

describe('a session', { concurrency: true }, () => {
  test('fails at once if Chromium ends, and warm instances are retried less and less often', async (t) => {
    const broken = program(t, fails)
    const bind = ['sh', '-c', 'mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh', broken, CHROMIUM]
    const server = await startApart(t, { prefix: [...UNSHARE, ...bind], env: { BERTH_WARM_HEADLESS: '1' } })
    const { status, body, seconds } = await create(server)
    assert.deepEqual([status, body.code], [503, 'unavailable'])
    assert.equal(body.message, 'Cannot create a session: Cannot start Chromium: it ended with code 1')
    assert.ok(seconds < 5, `${seconds} s`)

    const failures = () =>
      server
        .output()
        .split('\n')
        .filter((line) => line.includes('cannot prepare an instance'))
        .map((line) => (JSON.parse(line) as { time: string }).time)
    await eventually('four refills failed', () => failures().length >= 4)
    const [first, second, third, fourth] = failures().map((time) => Date.parse(time))
    const pauses = [second! - first!, third! - second!, fourth! - third!]
    t.diagnostic(`pauses between refills: ${pauses.join(', ')} ms`)
    assert.ok(pauses[0]! >= 1_000 && pauses[1]! >= 2_000 && pauses[2]! >= 4_000, pauses.join())
    await nothingIsLeft(server)
    restore(server, CHROMIUM)
    await worksAgain(server)
  })

  test('fails after 20 s if Chromium hangs, and creates that cannot start by then are refused', async (t) => {
    const server = await startApart(t)
    replace(server, CHROMIUM, program(t, hangs))
    const atOnce = 2 * availableParallelism()
    const answers = await Promise.all(Array.from({ length: atOnce + 2 }, () => create(server)))
    for (const { status, seconds } of answers) {
      assert.ok(seconds > (status === 529 ? 14 : 19) && seconds < (status === 529 ? 19 : 30), `${seconds} s`)
    }
    const messages = answers.map(({ status, body }) => `${status} ${body.message}`).toSorted()
    const late = '503 Cannot create a session: Cannot start Chromium: it is not ready after 20 s'
    const queued = `529 Cannot create a session: ${atOnce} other instances have been starting for 15 s`
    assert.deepEqual(messages, [...Array<string>(atOnce).fill(late), queued, queued])
    await nothingIsLeft(server)
    restore(server, CHROMIUM)
    await worksAgain(server)
  })

  test('fails at once if the sandbox ends, and after 30 s if it hangs', async (t) => {
    const server = await startApart(t)
    replace(server, BWRAP, program(t, fails))
    const failed = await create(server)
    assert.deepEqual([failed.status, failed.body.code], [503, 'unavailable'])
    // The server connects before or after the end.
    assert.match(failed.body.message!, /Cannot connect to instance "\w+": it has ended|read ECONNRESET/)
    await eventually('the log tells why', () => server.output().includes('"stderr":"this is broken"'))
    assert.ok(failed.seconds < 5, `${failed.seconds} s`)
    restore(server, BWRAP)

    replace(server, BWRAP, program(t, hangs))
    const hung = await create(server)
    assert.deepEqual([hung.status, hung.body.code], [503, 'unavailable'], hung.body.message)
    assert.ok(hung.seconds > 29 && hung.seconds < 35, `${hung.seconds} s`)
    await nothingIsLeft(server)
    restore(server, BWRAP)
    await worksAgain(server)
  })

  test('is refused with the reason by a server whose sandbox never worked', async (t) => {
    const broken = program(t, fails)
    const bind = ['sh', '-c', 'mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh', broken, BWRAP]
    const server = await startApart(t, { prefix: [...UNSHARE, ...bind] })
    const { status, body } = await create(server)
    assert.deepEqual([status, body.code], [503, 'sessions_unavailable'])
    assert.match(body.message!, /Bubblewrap cannot make a sandbox here \(this is broken\)/)
  })
})
