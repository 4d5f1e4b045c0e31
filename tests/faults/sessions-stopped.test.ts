// Processes that are stopped without ending, as by swapping or a forgotten debugger: clients get an answer in time,
// and other sessions are not affected.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { agrees } from '../fixtures/agreement.ts'
import { CdpClient, Refused, withCdp } from '../fixtures/cdp.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { partsOf, type Part } from '../fixtures/parts.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, endsAs, instanceOf, readSession, send, type Session } from '../fixtures/sessions.ts'

const LEASE_SECONDS = 5
const env = { BERTH_LEASE_SECONDS: String(LEASE_SECONDS) }
const fileOwner = { after }
const server = await startServer(fileOwner, { hasRealInstances: true, env })

const neighbour = await CdpClient.open((await createSession(server)).cdp_ws_url)
cleanUpAfter(fileOwner, () => neighbour.terminate())

async function stop(session: Session, part: Part, of = server): Promise<number> {
  const [found] = partsOf(await instanceOf(of, session), part)
  process.kill(found!.pid, 'SIGSTOP')
  return found!.pid
}

/** Checks that a neighbouring session answers during the work; returns its longest response time. */
async function slowestOfNeighbour(during: Promise<unknown>): Promise<number> {
  const over = new AbortController()
  void during.finally(() => over.abort()).catch(() => {})
  let slowest = 0
  while (!over.signal.aborted) {
    const askedAt = performance.now()
    assert.equal(await neighbour.evaluate('6 * 7', { ms: 5_000 }), 42)
    slowest = Math.max(slowest, performance.now() - askedAt)
    await delay(100)
  }
  return Math.round(slowest)
}

async function refusal(work: Promise<unknown>): Promise<{ error: Refused; ms: number }> {
  const startedAt = performance.now()
  const error = await work.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Refused, String(error))
  return { error, ms: Math.round(performance.now() - startedAt) }
}

describe('a stopped', { concurrency: 2 }, () => {
  test('Chromium refuses clients after 10 s, and is restarted after half a minute', async (t) => {
    const session = await createSession(server)
    const cdp = await CdpClient.open(session.cdp_ws_url)
    await cdp.evaluate('1')
    const stoppedAt = performance.now()
    await stop(session, 'chromium')
    const restarted = cdp.closed().then((closing) => ({ closing, ms: performance.now() - stoppedAt }))
    const slowest = slowestOfNeighbour(restarted)
    await assert.rejects(cdp.evaluate('1', { ms: 2_000 }), /No answer/)

    const { error, ms } = await refusal(CdpClient.open(session.cdp_ws_url))
    assert.equal(error.status, 503)
    assert.match(error.body, /Cannot reach the browser of the session in time; try again/)
    assert.ok(ms > 9_000 && ms < 13_000, `refused after ${ms} ms`)
    const { status, body } = await send(server, 'PATCH', `/browsers/${session.session_id}`, {
      viewport: { width: 640, height: 480 },
    })
    assert.deepEqual([status, body.code], [503, 'unavailable'], body.message)

    const { closing, ms: restartMs } = await restarted
    assert.deepEqual(closing, { code: 1001, reason: 'browser closed the connection' })
    assert.ok(restartMs > 25_000 && restartMs < 45_000, `${restartMs} ms`)
    assert.equal(await withCdp(session.cdp_ws_url, (again) => again.evaluate('1 + 1')), 2)
    assert.equal((await readSession(server, session.session_id)).end_reason, undefined)
    t.diagnostic(`ended after ${Math.round(restartMs)} ms; slowest call beside it ${await slowest} ms`)
  })

  test('agent ends its session as crashed within two leases', async (t) => {
    const session = await createSession(server)
    const cdp = await CdpClient.open(session.cdp_ws_url)
    const stoppedAt = performance.now()
    await stop(session, 'agent')
    const slowest = slowestOfNeighbour(cdp.closed())
    assert.deepEqual(await cdp.closed(), { code: 4002, reason: 'session crashed' })
    const ms = Math.round(performance.now() - stoppedAt)
    assert.ok(ms < 2_500 * LEASE_SECONDS, `noticed after ${ms} ms`)
    await endsAs(server, session, { reason: 'crashed', withinMs: 1_000 })
    t.diagnostic(`ended after ${ms} ms; slowest call beside it ${await slowest} ms`)
  })

  test('sandbox process makes no difference', async () => {
    const session = await createSession(server)
    await stop(session, 'bwrap')
    assert.equal(await withCdp(session.cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
    assert.equal((await send(server, 'DELETE', `/browsers/${session.session_id}`)).status, 204)
  })

  test('server does not mistake its own pause for that of an agent', async (t) => {
    const stopped = await startServer(t, { hasRealInstances: true, env })
    const session = await createSession(stopped)
    const cdp = await CdpClient.open(session.cdp_ws_url)
    // Long enough that a renewal is in progress, whose answer the server does not receive.
    const agent = await stop(session, 'agent', stopped)
    await delay((LEASE_SECONDS * 1000) / 2)
    process.kill(stopped.pid, 'SIGSTOP')
    process.kill(agent, 'SIGCONT')
    await delay((LEASE_SECONDS * 1000 * 3) / 4)
    process.kill(stopped.pid, 'SIGCONT')
    await delay(LEASE_SECONDS * 1000)
    assert.equal(await cdp.evaluate('6 * 7'), 42)
    cdp.terminate()
    await agrees(stopped)
  })

  test('server loses nothing within the lease, and after it finds its sessions lost', async (t) => {
    const stopped = await startServer(t, { hasRealInstances: true, env })
    const session = await createSession(stopped)
    const cdp = await CdpClient.open(session.cdp_ws_url)
    await cdp.evaluate('globalThis.kept = 42')
    process.kill(stopped.pid, 'SIGSTOP')
    const answer = cdp.evaluate('globalThis.kept')
    await delay((LEASE_SECONDS * 1000) / 2)
    process.kill(stopped.pid, 'SIGCONT')
    assert.equal(await answer, 42)

    process.kill(stopped.pid, 'SIGSTOP')
    // The instance must notice that its lease expired.
    await delay(LEASE_SECONDS * 1000 + 3_000)
    process.kill(stopped.pid, 'SIGCONT')
    assert.deepEqual(await cdp.closed(), { code: 4005, reason: 'session lost' })
    await endsAs(stopped, session, { reason: 'lost', withinMs: 5_000 })
    await agrees(stopped)
    const next = await createSession(stopped)
    assert.equal(await withCdp(next.cdp_ws_url, (again) => again.evaluate('1 + 1')), 2)
  })
})

test('afterwards rows and processes agree', () => agrees(server))
