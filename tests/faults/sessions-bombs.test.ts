// A session that uses up resources is stopped by its own limits, and the session beside it is not affected.
import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { agrees } from '../fixtures/agreement.ts'
import { CdpClient, withCdp } from '../fixtures/cdp.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually, instanceGroups } from '../fixtures/host.ts'
import { runInside } from '../fixtures/inside.ts'
import { startServer } from '../fixtures/server.ts'
import type { SeenEvent } from '../fixtures/telemetry.ts'
import { createSession, endsAs, instanceOf, send, type Session } from '../fixtures/sessions.ts'

const PROCESSES = 300
const fileOwner = { after }
const server = await startServer(fileOwner, {
  hasRealInstances: true,
  env: {
    BERTH_SESSION_MEMORY_MB: '512',
    BERTH_SESSION_DISK_MB: '64',
    BERTH_SESSION_PROCESSES: String(PROCESSES),
  },
})
const neighbour = await CdpClient.open((await createSession(server)).cdp_ws_url)
cleanUpAfter(fileOwner, () => neighbour.terminate())

/** Slow for a person, but answered; the test prints the figures. */
const SLOWEST_MS = 5_000

/** Sends requests to the neighbouring session while the work runs. */
async function besides<T>(t: TestContext, work: Promise<T>): Promise<T> {
  const times: number[] = []
  const over = new AbortController()
  const settled = work.finally(() => over.abort())
  settled.catch(() => {})
  const freeBefore = freemem()
  do {
    const askedAt = performance.now()
    assert.equal(await neighbour.evaluate('6 * 7', { ms: SLOWEST_MS }), 42)
    times.push(performance.now() - askedAt)
    await delay(10)
  } while (!over.signal.aborted)
  const [median, slowest] = [times.toSorted((a, b) => a - b)[times.length >> 1]!, Math.max(...times)]
  const freedMb = Math.round((freemem() - freeBefore) / 1024 / 1024)
  t.diagnostic(
    `beside it ${times.length} calls, median ${median.toFixed(1)} ms, slowest ${slowest.toFixed(0)} ms; free memory changed by ${freedMb} MB`,
  )
  return settled
}

async function endsOutOfMemory(session: Session, cdp: CdpClient): Promise<void> {
  assert.deepEqual(await cdp.closed(), { code: 4003, reason: 'session out of memory' })
  await endsAs(server, session, { reason: 'out_of_memory', withinMs: 5_000 })
  await agrees(server)
}

/** Processes and threads, and how many more were requested. */
function tasksOf(instanceId: string): { current: number; refused: number } {
  const group = instanceGroups(instanceId).find((path) => existsSync(join(path, 'pids.current')))!
  const [, refused] = readFileSync(join(group, 'pids.events'), 'utf8').split(/\s+/)
  return { current: Number(readFileSync(join(group, 'pids.current'), 'utf8')), refused: Number(refused) }
}

test('a page that uses up memory ends its session as out of memory', async (t) => {
  const session = await createSession(server)
  const cdp = await CdpClient.open(session.cdp_ws_url)
  const eaten = cdp.evaluate('for (const all = []; ; ) all.push(new Uint8Array(16 << 20).fill(1))', {
    ms: 60_000,
  })
  eaten.catch(() => {})
  await besides(t, endsOutOfMemory(session, cdp))
  await assert.rejects(eaten)
})

test('a program that fills /dev/shm ends its session as out of memory', async (t) => {
  const session = await createSession(server, { telemetry: { enabled: true } })
  const cdp = await CdpClient.open(session.cdp_ws_url)
  void runInside(t, await instanceOf(server, session), 'head -c 500M /dev/zero > /dev/shm/fill')
  await besides(t, endsOutOfMemory(session, cdp))

  // The kernel log names the process, if it may be read.
  const kills = async () => {
    const path = `/browsers/${session.session_id}/telemetry/events?category=system`
    const { body } = await send<SeenEvent[]>(server, 'GET', path)
    return body.map(({ event }) => event).filter(({ type }) => type === 'system_oom_kill')
  }
  if (!isKernelLogReadable()) return t.diagnostic('the log of the kernel cannot be read here')
  await eventually('it is told', async () => (await kills()).length === 1)
  const [{ data } = {}] = await kills()
  assert.ok(typeof data?.['process_name'] === 'string' && Number(data['pid']) > 0, JSON.stringify(data))
  assert.ok(Number(data['rss_kb']) > 0)
})

function isKernelLogReadable(): boolean {
  try {
    closeSync(openSync('/dev/kmsg', 'r'))
    return true
  } catch {
    return false
  }
}

test('a full home directory is an error for the writer, and the session continues', async (t) => {
  const session = await createSession(server)
  const cdp = await CdpClient.open(session.cdp_ws_url)
  const instanceId = await instanceOf(server, session)
  const fill = runInside(t, instanceId, 'head -c 200M /dev/zero 2>/dev/null > /home/kernel/fill')
  assert.equal(await besides(t, fill), 1, 'no space left')
  assert.equal(await cdp.evaluate('1 + 1'), 2)
  assert.equal(await runInside(t, instanceId, 'rm /home/kernel/fill'), 0)
  assert.equal(await withCdp(session.cdp_ws_url, (again) => again.evaluate('1 + 1')), 2)
  assert.equal((await send(server, 'DELETE', `/browsers/${session.session_id}`)).status, 204)
})

test('a fork bomb stays within its limit, and ends with its session', async (t) => {
  const session = await createSession(server)
  const instanceId = await instanceOf(server, session)
  // The first forks as long as it can; the children of the second stay.
  void runInside(t, instanceId, 'f() { f | f & }; f 2>/dev/null')
  void runInside(t, instanceId, 'for i in $(seq 2000); do sleep 1000 & done 2>/dev/null')
  await besides(t, delay(3_000))
  const { current, refused } = tasksOf(instanceId)
  assert.ok(current <= PROCESSES && refused > 0, `${current} tasks, ${refused} refused`)
  await besides(
    t,
    send(server, 'DELETE', `/browsers/${session.session_id}`).then(() => agrees(server)),
  )
})

test('afterwards a new session works', async () => {
  const { cdp_ws_url } = await createSession(server)
  assert.equal(await withCdp(cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
  await agrees(server)
})
