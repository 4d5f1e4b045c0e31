// Profiles under attack: invalid archives and bombs; tenants that put forbidden files into their user-data directory;
// profiles of other projects; secrets at rest. The tests of valid archive entries are in
// packages/server/src/sessions/profiles/archive.test.ts.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { constants, createZstdCompress, gzipSync, zstdCompressSync } from 'node:zlib'
import type { Profile } from '@berth/contracts/profiles'
import { TAR_END, tarHead, tarPadding } from '@berth/codecs/tar/writer'
import { withCdp } from '../fixtures/cdp.ts'
import { footprintOf } from '../fixtures/footprint.ts'
import { eventually } from '../fixtures/host.ts'
import { createProfile, endSession, readProfile, versionsOf, whenSaved } from '../fixtures/profiles.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'

const owner = { after }
const server = await startServer(owner, {
  hasRealInstances: true,
  hasOwnPostgres: true,
  env: { BERTH_PROFILE_MAX_MB: '16' },
})
const SECRET = 'planted-secret-0815'
const MB = 1024 * 1024

async function put(id: string, body: Buffer) {
  const answer = await server.fetch(`/profiles/${id}/archive`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(body),
  })
  return { status: answer.status, body: (await answer.json()) as { code?: string; message?: string } }
}

function file(path: string, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([
    tarHead({ path, kind: 'file', size: bytes.length, mtimeSeconds: 0 }),
    bytes,
    tarPadding(bytes.length),
  ])
}

const good = Buffer.concat([file('Default/note', SECRET), TAR_END])

test('an archive is accepted whole or not at all, and the answer says why', async () => {
  const { id } = await createProfile(server)
  const bomb = Buffer.concat([file('Default/zeros', Buffer.alloc(64 * MB)), TAR_END])
  const refusals: [what: string, body: Buffer, status: number][] = [
    ['nothing', Buffer.alloc(0), 400],
    ['text', Buffer.from('not an archive at all'), 400],
    ['half of one', good.subarray(0, 600), 400],
    ['broken zstd', Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), Buffer.alloc(100, 7)]), 400],
    ['cut zstd', zstdCompressSync(good).subarray(0, 40), 400],
    ['broken gzip', Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(100, 7)]), 400],
    ['a way out', Buffer.concat([good.subarray(0, -1024), file('../../x', 'x'), TAR_END]), 400],
    ['an absolute path', Buffer.concat([good.subarray(0, -1024), file('/etc/cron.d/x', 'x'), TAR_END]), 400],
    ['another directory', Buffer.concat([file('home/Default/x', 'x'), TAR_END]), 400],
    ['a zstd bomb', zstdCompressSync(bomb), 413],
    ['a gzip bomb', gzipSync(bomb), 413],
    ['too much', bomb, 413],
  ]
  for (const [what, body, status] of refusals) {
    const answer = await put(id, body)
    assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`)
    assert.match(answer.body.message!, /^Cannot (import the archive|accept the request)/, what)
  }
  assert.deepEqual(await versionsOf(server, id), [])
  assert.equal((await server.fetch(`/profiles/${id}/download`)).status, 202)
  for (const body of [good, zstdCompressSync(good), gzipSync(good)]) {
    assert.equal((await put(id, body)).status, 201)
  }
  assert.equal((await readProfile(server, id)).version, 3)
})

/** Begins an import and sends a part of it; the answer may come before the rest. */
function beginImport(id: string, part: Buffer, headers: Record<string, string> = {}) {
  const sent = request(`${server.url}/profiles/${id}/archive`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${server.key}`,
      'content-type': 'application/octet-stream',
      ...headers,
    },
  })
  const answer = new Promise<{ status: number; message: string }>((resolve, reject) => {
    sent.once('error', reject)
    sent.once('response', (response) => {
      void text(response).then(
        (body) =>
          resolve({
            status: response.statusCode!,
            message: (JSON.parse(body) as { message: string }).message,
          }),
        reject,
      )
    })
  })
  // A test that awaits the answer gets the failure. Nobody awaits imports that a test cuts off.
  answer.catch(() => {})
  sent.write(part)
  return { answer, cut: () => sent.destroy(), end: () => sent.end() }
}

test('ten small uploads that ask for a zstd window of 128 MiB are refused and take no memory', async () => {
  const { id } = await createProfile(server)
  const content = Buffer.concat([file('Default/zeros', Buffer.alloc(15 * MB)), TAR_END])
  const params = { [constants.ZSTD_c_windowLog]: 27 }
  const bomb = Buffer.concat(
    await Array.fromAsync(
      Readable.from([content]).pipe(createZstdCompress({ params })) as AsyncIterable<Buffer>,
    ),
  )
  assert.ok(bomb.length < 8_000, `${bomb.length} bytes`)
  const before = footprintOf(server).rssMb
  // Their last bytes are never sent, so a decoder would wait and keep its window in memory.
  const imports = Array.from({ length: 10 }, () => beginImport(id, bomb.subarray(0, -8)))
  for (const { answer } of imports) {
    const { status, message } = await answer
    assert.equal(status, 400)
    assert.match(message, /body: its zstd window is larger than 8 MiB; compress it with "zstd -19" or less/)
  }
  const grown = footprintOf(server).rssMb - before
  assert.ok(grown < 64, `${grown} MB more`)
  for (const { cut } of imports) cut()
  // An archive of the command-line tool is accepted, even at its highest usual level.
  const strong = { [constants.ZSTD_c_compressionLevel]: 19 }
  assert.equal((await put(id, zstdCompressSync(good, { params: strong }))).status, 201)
})

test('a project has a limited number of running and waiting decoders, and does not delay other projects', async () => {
  const { id } = await createProfile(server)
  const held = gzipSync(good).subarray(0, -8)
  const imports = Array.from({ length: 2 + 16 + 1 }, () => beginImport(id, held))
  const refused = await Promise.race(imports.map(({ answer }) => answer))
  assert.equal(refused.status, 429)
  assert.match(refused.message, /too many archives of the project are being read; send fewer at once/)
  const project = await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'Undisturbed' })
  const headers = { 'x-kernel-project-id': project.body.id }
  const made = await server.fetch('/profiles', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{}',
  })
  const theirs = (await made.json()) as Profile
  const undisturbed = beginImport(theirs.id, gzipSync(good), headers)
  undisturbed.end()
  assert.equal((await undisturbed.answer).status, 201)
  for (const { cut } of imports) cut()
  // The waiting imports are gone, so the project can import again.
  assert.equal((await put(id, gzipSync(good))).status, 201)
})

test('a client that disconnects during an import leaves nothing', async () => {
  const { id } = await createProfile(server)
  const sent = request(`${server.url}/profiles/${id}/archive`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/octet-stream' },
  })
  sent.on('error', () => {})
  sent.write(file('Default/part', Buffer.alloc(4 * MB)).subarray(0, 2 * MB))
  const unfinished = () => readdirSync(join(server.dataDir, 'blobs', 'unfinished'))
  await eventually('it is being stored', () => unfinished().length === 1)
  sent.destroy()
  await eventually('nothing is left of it', () => unfinished().length === 0)
  assert.deepEqual(await versionsOf(server, id), [])
  assert.equal((await put(id, good)).status, 201)
  assert.deepEqual(unfinished(), [])
})

test('a stored profile is encrypted', async () => {
  const { id } = await createProfile(server)
  assert.equal((await put(id, good)).status, 201)
  const answer = await server.fetch(`/profiles/${id}/download?format=tar`)
  assert.ok(Buffer.from(await answer.arrayBuffer()).includes(SECRET))
  assert.match(answer.headers.get('content-disposition')!, /^attachment; filename="[a-z0-9]+-1\.tar"$/)
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  const files = readdirSync(server.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
  for (const bytes of files) assert.ok(!bytes.includes(SECRET))
  const blobs = readdirSync(join(server.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
  for (const bytes of blobs) assert.ok(!bytes.subarray(0, 64).includes(magic))
})

test('links and special files in the user-data directory are neither followed nor saved', async () => {
  const profile = await createProfile(server)
  const session = await createSession(server, { profile: { id: profile.id, save_changes: true } })
  const script = `cd /home/kernel/user-data/Default
    ln -s /etc/passwd link; ln -s / root; mkfifo pipe; echo kept > kept; chmod 4777 kept
    mkdir deep; ln -s ../../../.. deep/up; printf x > "$(printf 'bell\\007')"; echo x > ../SingletonLock2`
  const ran = await send<{ exit_code: number }>(
    server,
    'POST',
    `/browsers/${session.session_id}/process/exec`,
    {
      command: '/bin/sh',
      args: ['-c', script],
    },
  )
  assert.equal(ran.body.exit_code, 0, JSON.stringify(ran.body))
  await endSession(server, session.session_id)
  assert.equal((await whenSaved(server, session.session_id)).state, 'saved')
  const tar = await (await server.fetch(`/profiles/${profile.id}/download?format=tar`)).arrayBuffer()
  const directory = tempDir(owner)
  const listing = execFileSync('tar', ['-tvf', '-'], { input: Buffer.from(tar), cwd: directory }).toString()
  assert.match(listing, /^-rw------- .* Default\/kept$/m)
  assert.doesNotMatch(listing, /link|root$|pipe|up$|bell/m)
  for (const line of listing.trim().split('\n')) assert.match(line, /^(-rw-------|drwx------) 0\/0 /)
  const next = await createSession(server, { profile: { id: profile.id } })
  assert.equal(await withCdp(next.cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
  await endSession(server, next.session_id)
})

test('a user-data directory that is too large or has too many files is not saved, and the profile stays', async () => {
  const profile = await createProfile(server)
  assert.equal((await put(profile.id, good)).status, 201)
  const scripts = [
    'head -c 40000000 /dev/urandom > /home/kernel/user-data/Default/large',
    'cd /home/kernel/user-data/Default; mkdir many; cd many; seq 1 100001 | xargs touch',
  ]
  for (const script of scripts) {
    const session = await createSession(server, { profile: { id: profile.id, save_changes: true } })
    const ran = await send<{ exit_code: number }>(
      server,
      'POST',
      `/browsers/${session.session_id}/process/exec`,
      { command: '/bin/sh', args: ['-c', script] },
    )
    assert.equal(ran.body.exit_code, 0, JSON.stringify(ran.body))
    await endSession(server, session.session_id)
    const { state, message } = await whenSaved(server, session.session_id, 60_000)
    assert.equal(state, 'failed')
    assert.match(message!, /^its archive is refused: it (is larger than 16 MB|has more than 100000 entries)/)
  }
  assert.equal((await readProfile(server, profile.id)).version, 1)
})

test('a profile of another project is not found, also for sessions', async () => {
  const project = await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'Others' })
  const theirs = await send<Profile>(
    server,
    'POST',
    '/profiles',
    { name: 'theirs' },
    {
      'x-kernel-project-id': project.body.id,
    },
  )
  assert.equal(theirs.status, 201)
  const mine = await createProfile(server, 'mine')
  const own = await createSession(server, { profile: { id: mine.id } })
  const attempts = [{ id: theirs.body.id }, { name: 'theirs' }, { id: 'a'.repeat(24) }, { name: 'nobody' }]
  for (const profile of attempts) {
    const made = await send(server, 'POST', '/browsers', { headless: true, profile })
    assert.equal(made.status, 400, JSON.stringify(profile))
    const plain = await createSession(server)
    const attached = await send(server, 'PATCH', `/browsers/${plain.session_id}`, { profile })
    assert.equal(attached.status, 400, JSON.stringify(profile))
    await endSession(server, plain.session_id)
  }
  for (const profile of [{}, { id: '', name: '' }, { id: mine.id, name: 'mine' }, { save_changes: true }]) {
    const made = await send(server, 'POST', '/browsers', { headless: true, profile })
    assert.equal(made.status, 400, JSON.stringify(profile))
    assert.match(made.body.message!, /profile: must have an id or a name, and not both/)
  }
  await endSession(server, own.session_id)
  const full = await send(server, 'DELETE', '/org/projects/Others')
  assert.equal(full.body.code, 'project_not_empty')
})
