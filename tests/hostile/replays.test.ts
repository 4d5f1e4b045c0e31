// Recordings under attack: guessed ids and ranges, tokens for other things, and a tenant that kills the encoder. The
// records that an instance may send are tested in packages/server/src/sessions/replays/records.test.ts.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { withCdp } from '../fixtures/cdp.ts'
import {
  downloadReplay,
  listReplays,
  openColours,
  paint,
  startReplay,
  stopReplay,
} from '../fixtures/replays.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'
import { probe } from '../fixtures/video.ts'

const SECRET = 'planted-secret-4711'
const site = await startSite({ after })
const server = await startServer({ after }, { hasRealInstances: true, hasOwnPostgres: true, env: site.allow })
const session = await createSession(server, { headless: false, viewport: { width: 800, height: 600 } })
const other = await createSession(server, { headless: true })
const id = session.session_id
const replay = await startReplay(server, id)
await withCdp(session.cdp_ws_url, (cdp) => cdp.callPage('Page.navigate', { url: `${site.url}/${SECRET}` }))
await delay(500)

test('a recording is encrypted at rest, during and after it', async () => {
  const files = () =>
    readdirSync(server.dataDir, { recursive: true, withFileTypes: true, encoding: 'utf8' })
      .filter((entry) => entry.isFile() && /recordings|blobs/.test(entry.parentPath))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
  await delay(1_000)
  const growing = files()
  assert.ok(
    growing.some(({ length }) => length > 1_000),
    'a part of the recording is stored',
  )
  await stopReplay(server, id, replay)
  const video = await downloadReplay(server, id, replay)
  assert.ok(video.includes(SECRET), 'the address is a chapter')
  const piece = video.subarray(video.length - 200)
  for (const bytes of [...growing, ...files()]) {
    for (const known of [Buffer.from(SECRET), Buffer.from('ftyp'), Buffer.from('avcC'), piece]) {
      assert.ok(!bytes.includes(known))
    }
  }
})

test('only its own session and its own token open a recording', async () => {
  const path = `/browsers/${id}/replays/${replay.replay_id}`
  assert.equal((await server.fetch(path)).status, 200)
  assert.equal((await server.fetch(`/browsers/${other.session_id}/replays/${replay.replay_id}`)).status, 404)
  for (const guess of [
    '00000000-0000-4000-8000-000000000000',
    '..%2f..%2fmaster-keys',
    replay.replay_id.toUpperCase(),
    "'%20OR%20true--",
    '%00',
    'x'.repeat(101),
  ]) {
    const answer = await server.fetch(`/browsers/${id}/replays/${guess}`)
    assert.ok([400, 404].includes(answer.status), `${guess}: ${answer.status}`)
    const stopped = await send(server, 'POST', `/browsers/${id}/replays/${guess}/stop`)
    assert.ok([400, 404].includes(stopped.status), `${guess}: ${stopped.status}`)
  }
  const url = new URL(replay.replay_view_url!)
  const token = url.searchParams.get('jwt')!
  const second = await startReplay(server, id)
  await stopReplay(server, id, second)
  const control = new URL(session.cdp_ws_url).searchParams.get('jwt')!
  for (const page of ['/browser/replays', '/browser/replays/video']) {
    const ask = async (jwt: string, replayId: string) =>
      (await fetch(`${server.url}${page}?jwt=${jwt}&replay_id=${encodeURIComponent(replayId)}`)).status
    assert.equal(await ask(token, replay.replay_id), 200)
    assert.equal(await ask(token, second.replay_id), 404)
    assert.equal(await ask(token, '../../x'), 404)
    for (const wrong of ['', 'x', control, `${token}x`, token.slice(0, -2)]) {
      assert.equal(await ask(wrong, replay.replay_id), 401)
    }
    assert.equal(
      (await fetch(`${server.url}${page}?jwt=${token}&jwt=${token}&replay_id=${replay.replay_id}`)).status,
      401,
    )
  }
  // It opens nothing else.
  assert.equal((await fetch(`${server.url}/browser/kernel/replays?jwt=${token}`)).status, 401)
  assert.equal((await server.fetch(path, { key: token })).status, 401)
  assert.ok(!server.output().includes(token))
})

test('a range is served as requested, or refused', async () => {
  const path = `/browsers/${id}/replays/${replay.replay_id}`
  const whole = Buffer.from(await (await server.fetch(path)).arrayBuffer())
  const size = whole.length
  for (const [range, from, to] of [
    ['bytes=0-0', 0, 0],
    ['bytes=-1', size - 1, size - 1],
    ['bytes=100-299', 100, 299],
    [`bytes=${size - 5}-`, size - 5, size - 1],
    ['bytes=0-999999999999999', 0, size - 1],
  ] as const) {
    const answer = await server.fetch(path, { headers: { range } })
    assert.equal(answer.status, 206, range)
    assert.equal(answer.headers.get('content-range'), `bytes ${from}-${to}/${size}`)
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.match(answer.headers.get('content-disposition')!, /^attachment; filename="[0-9a-f-]{36}\.mp4"$/)
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), whole.subarray(from, to + 1))
  }
  for (const range of [
    'bytes=0-1e18',
    `bytes=${size}-`,
    'bytes=-0',
    'bytes=5-4',
    'bytes=--1',
    `bytes=0-${'9'.repeat(99)}`,
  ]) {
    const answer = await server.fetch(path, { headers: { range } })
    assert.equal(answer.status, 416, range)
    assert.equal(answer.headers.get('content-range'), `bytes */${size}`)
  }
})

test('an address with a script in it is shown as text', async () => {
  const name = '<img src=x onerror=alert(1)>"\'&'
  const attacked = await startReplay(server, id)
  await withCdp(session.cdp_ws_url, (cdp) =>
    cdp.callPage('Page.navigate', { url: `${site.url}/${encodeURIComponent(name)}` }),
  )
  await delay(600)
  await stopReplay(server, id, attacked)
  await downloadReplay(server, id, attacked)
  const answer = await fetch(attacked.replay_view_url!)
  const text = await answer.text()
  assert.ok(text.includes('onerror'), 'it is a chapter')
  assert.ok(!/<img/i.test(text))
  const policy = answer.headers.get('content-security-policy')!
  assert.match(policy, /default-src 'none'/)
  assert.ok(!policy.includes('unsafe'))
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
})

test('a tenant that kills the encoder loses a moment, not the recording', async () => {
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await openColours(cdp, 'red')
    const killed = await startReplay(server, id)
    await delay(500)
    const exec = await send(server, 'POST', `/browsers/${id}/process/exec`, {
      command: '/bin/sh',
      args: [
        '-c',
        'for p in /proc/[0-9]*; do grep -q ^ffmpeg $p/cmdline 2>/dev/null && kill -9 ${p#/proc/}; done; true',
      ],
    })
    assert.equal(exec.status, 200, JSON.stringify(exec.body))
    await delay(1_500)
    await paint(cdp, 'blue')
    await delay(500)
    await stopReplay(server, id, killed)
    const video = await downloadReplay(server, id, killed)
    assert.ok(Number(probe(video).format.duration) > 2)
    const [listed] = (await listReplays(server, id)).filter((each) => each.replay_id === killed.replay_id)
    assert.equal(listed!.end_reason, 'stopped')
  })
})

const statusOf = async (url: string) => (await fetch(url)).status

test('a link expires after seven days, or with its session if the delete asks for it', async () => {
  const { session_id: otherId } = other
  const recorded = await startReplay(server, otherId)
  await delay(300)
  await stopReplay(server, otherId, recorded)
  const first = recorded.replay_view_url!
  const claims = new URL(first).searchParams.get('jwt')!.split('.')[1]!
  const { iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iat: number; exp: number }
  assert.equal(exp - iat, 7 * 24 * 3600)
  assert.equal(await statusOf(first), 200)
  const ended = await server.fetch(`/browsers/${otherId}?revoke_replay_links=true`, { method: 'DELETE' })
  assert.equal(ended.status, 204)
  assert.equal(await statusOf(first), 401)
  assert.equal(await statusOf(first.replace('/browser/replays', '/browser/replays/video')), 401)
  // The time in a token has whole seconds. A token that is made in the second of the revocation counts as older.
  await eventually('a new link works', async () => {
    const [again] = await listReplays(server, otherId)
    return (await statusOf(again!.replay_view_url!)) === 200
  })
  assert.equal(await statusOf(first), 401)
})
