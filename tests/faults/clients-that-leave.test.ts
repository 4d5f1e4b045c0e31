// Clients disconnect while the server works for them: nothing of their request is left, and its resources are free at
// once. docs/decisions/0031-signals.md has the rules and names the tests of the other operations.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { Proxy } from '@berth/contracts/proxies'
import { agrees } from '../fixtures/agreement.ts'
import { withCdp } from '../fixtures/cdp.ts'
import { eventually, instanceDirs, processesOf } from '../fixtures/host.ts'
import { createProfile } from '../fixtures/profiles.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { createSession, listSessions, metric, query, send } from '../fixtures/sessions.ts'

const CHROMIUM = '/usr/lib/chromium/chromium'
const STARTS_AT_ONCE = 2 * availableParallelism()
/** Far below every timeout that would also end the work: 15 s in the queue, 15 s for a check, 30 s for a save. */
const CLEANUP_TIMEOUT_MS = 5_000
const DEBUG = { BERTH_LOG_LEVEL: 'debug' }

interface Leaving {
  leave(): Promise<void>
}

/** A request that is never answered. */
function ask(server: TestServer, path: string, body: object, headers: Record<string, string> = {}): Leaving {
  const gone = new AbortController()
  const answer = server.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: gone.signal,
  })
  const left = assert.rejects(answer, { name: 'AbortError' })
  return {
    leave: () => {
      gone.abort()
      return left
    },
  }
}

/** A request is over when its work ends, not when its client disconnects. */
async function isOver(server: TestServer, route: string, count = 1): Promise<void> {
  const lines = () => server.output().split('\n')
  const isIt = (line: string) => line.includes(`"route":"${route}"`) && line.includes('"status":499')
  await eventually(`${route} is over`, () => lines().filter(isIt).length === count, CLEANUP_TIMEOUT_MS)
}

const countRows = async (server: TestServer) =>
  (await query(server, 'SELECT 1 FROM browsers WHERE deleted_at IS NULL')).length

const hasRows = (server: TestServer, count: number) =>
  eventually(`${count} rows`, async () => (await countRows(server)) === count, CLEANUP_TIMEOUT_MS)

/** Has its own view of the files, in which Chromium never gets ready in instances made before `restore`. */
async function startHanging(t: TestContext, env: Record<string, string>) {
  const program = join(tempDir(t), 'program')
  writeFileSync(program, '#!/bin/sh\nexec sleep 1000\n', { mode: 0o755 })
  const bind = ['sh', '-c', 'mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh', program, CHROMIUM]
  const prefix = ['unshare', '--mount', '--propagation', 'private', ...bind]
  const server = await startServer(t, { hasRealInstances: true, prefix, env: { ...DEBUG, ...env } })
  const restore = () =>
    execFileSync('nsenter', ['--target', String(server.process.pid), '--mount', 'umount', CHROMIUM])
  return { server, restore }
}

async function worksAgain(server: TestServer): Promise<void> {
  const { cdp_ws_url } = await createSession(server)
  assert.equal(await withCdp(cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
}

describe('a client that disconnects while its session is created', () => {
  test('leaves nothing in the start queue: no row, no instance, no place under the cap', async (t) => {
    const cap = STARTS_AT_ONCE + 1
    const { server, restore } = await startHanging(t, { BERTH_MAX_CONCURRENT_SESSIONS: String(cap) })
    const body = { headless: true }
    const starting = Array.from({ length: STARTS_AT_ONCE }, () => ask(server, '/browsers', body))
    await eventually('they start', () => instanceDirs(server.dataDir).length === STARTS_AT_ONCE)

    const key = { 'idempotency-key': 'comes-again' }
    const waiting = ask(server, '/browsers', body, key)
    await hasRows(server, cap)
    const refused = await send(server, 'POST', '/browsers', body)
    assert.deepEqual([refused.status, refused.body.code], [429, 'too_many_sessions'])
    const startedFor = instanceDirs(server.dataDir).toSorted()

    await waiting.leave()
    await isOver(server, '/browsers')
    assert.equal(await countRows(server), STARTS_AT_ONCE)
    assert.deepEqual(instanceDirs(server.dataDir).toSorted(), startedFor)
    // Another client gets its place, also in the queue.
    const next = ask(server, '/browsers', body)
    await hasRows(server, cap)
    await next.leave()
    await isOver(server, '/browsers', 2)

    // The instances of those that were starting end, too.
    const processes = () => startedFor.flatMap((id) => processesOf(id))
    assert.ok(processes().length >= STARTS_AT_ONCE)
    await Promise.all(starting.map((each) => each.leave()))
    await isOver(server, '/browsers', STARTS_AT_ONCE + 2)
    assert.deepEqual(instanceDirs(server.dataDir), [])
    assert.deepEqual(processes(), [])
    assert.equal(await countRows(server), 0)
    assert.deepEqual(await listSessions(server), [])
    await agrees(server)

    // The key is free: a retry with it creates a session, and later ones return that session.
    restore()
    const made = await send(server, 'POST', '/browsers', body, key)
    assert.deepEqual([made.status, made.headers.get('idempotent-replayed')], [200, null])
    const again = await send(server, 'POST', '/browsers', body, key)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.equal(again.body.session_id, made.body.session_id)
    await worksAgain(server)
    await agrees(server)
  })

  test('ends the warm instance that it got, and another replaces it', async (t) => {
    const { server } = await startHanging(t, { BERTH_EMPTY_INSTANCES: '1' })
    const isFull = async () => (await metric(server, 'berth_warm_instances{kind="empty"}')) === 1
    await eventually('the stock is full', isFull)
    const [given] = instanceDirs(server.dataDir)
    const starting = ask(server, '/browsers', { headless: true })
    const named = 'SELECT 1 FROM browsers WHERE deleted_at IS NULL AND instance_id = $1'
    await eventually('it has it', async () => (await query(server, named, [given])).length === 1)
    await starting.leave()
    await isOver(server, '/browsers')
    assert.equal(await countRows(server), 0)
    assert.deepEqual(processesOf(given!), [])
    await eventually('the stock is full again', isFull)
    assert.ok(!instanceDirs(server.dataDir).includes(given!))
  })
})

describe('a client that disconnects', () => {
  test('does not wait for a profile that is being saved', async (t) => {
    const server = await startServer(t, { env: DEBUG })
    const { id } = await createProfile(server)
    const { session_id } = await createSession(server, { profile: { id } })
    // Like the save of an ended session, which usually takes only a moment.
    await query(server, `UPDATE browsers SET profile_save = 'saving' WHERE id = $1`, [session_id])
    const looks = `SELECT 1 FROM pg_stat_activity WHERE pid <> pg_backend_pid()
      AND query LIKE '%"profile_id" = $1 and "profile_save" = $2%'`
    const creating = ask(server, '/browsers', { headless: true, profile: { id } })
    await eventually('it waits', async () => (await query(server, looks)).length > 0)
    await creating.leave()
    await isOver(server, '/browsers')
    assert.equal(await countRows(server), 1)
  })

  test('during the upload of an extension leaves nothing of it', async (t) => {
    const server = await startServer(t, { env: DEBUG })
    const sent = request(`${server.url}/extensions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.key}`,
        'content-type': 'multipart/form-data; boundary=between',
      },
    })
    sent.on('error', () => {})
    sent.write('--between\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n')
    sent.write(Buffer.alloc(1024 * 1024))
    await eventually('it is being taken', () => unnamedFiles(server).length === 1)
    sent.destroy()
    await isOver(server, '/extensions')
    assert.deepEqual(unnamedFiles(server), [])
    assert.deepEqual((await send<unknown[]>(server, 'GET', '/extensions')).body, [])
    assert.deepEqual(readdirSync(join(server.dataDir, 'blobs', 'unfinished')), [])
  })

  test('during the check of a proxy ends the check', async (t) => {
    const silent = createServer()
    const closed: Promise<unknown>[] = []
    silent.on('connection', (socket: Socket) => closed.push(once(socket.resume(), 'close')))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    t.after(() => silent.close())
    const { port } = silent.address() as AddressInfo
    const providers = join(tempDir(t), 'providers.json')
    writeFileSync(providers, JSON.stringify({ isp: { url: `http://127.0.0.1:${port}` } }))
    const server = await startServer(t, { env: { ...DEBUG, BERTH_PROXY_PROVIDERS: providers } })
    const { body: proxy } = await send<Proxy>(server, 'POST', '/proxies', { type: 'isp' })
    const checking = ask(server, `/proxies/${proxy.id}/check`, {})
    await eventually('it asks', () => closed.length === 1)
    await checking.leave()
    await isOver(server, '/proxies/:id/check')
    await Promise.all(closed)
    const { body: now } = await send<Proxy>(server, 'GET', `/proxies/${proxy.id}`)
    assert.equal(now.last_checked, undefined)
  })
})

/** Uploads are kept in files without a name. */
function unnamedFiles({ process: { pid } }: TestServer): string[] {
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).flatMap((name) => {
    try {
      const path = readlinkSync(join(directory, name))
      return /\/berth-test-.* \(deleted\)$/.test(path) ? [path] : []
    } catch {
      return []
    }
  })
}
