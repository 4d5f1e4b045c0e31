// Servers are killed and stopped, disks fill up and instances die during saves: the last saved version still loads.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ProfileVersion } from '@berth/contracts/profiles'
import { agrees } from '../fixtures/agreement.ts'
import { withCdp } from '../fixtures/cdp.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually, processesOf } from '../fixtures/host.ts'
import { everything, join, knownAt, startMemberSite, type MemberSite } from '../fixtures/member-site.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { createProfile, endSession, readProfile, versionsOf, whenSaved } from '../fixtures/profiles.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { createSession, endsAs, instanceOf, query, send, type Session } from '../fixtures/sessions.ts'
import { profileKillRounds } from './profile-kills.ts'
import { amount, sample } from '../tiers.ts'

const hasRealInstances = true

async function sessionOf(server: TestServer, site: MemberSite, id: string, name: string): Promise<Session> {
  const session = await createSession(server, { profile: { id, save_changes: true } })
  await withCdp(session.cdp_ws_url, (cdp) => join(cdp, site, name))
  return session
}

async function assertKnows(server: TestServer, site: MemberSite, id: string, name: string): Promise<void> {
  const session = await createSession(server, { profile: { id } })
  assert.deepEqual(await withCdp(session.cdp_ws_url, (cdp) => knownAt(cdp, site)), everything(name))
  await endSession(server, session.session_id)
}

test('after a kill at any point of a save, the next server saves', async (t) => {
  const site = await startMemberSite(t)
  const dataDir = tempDir(t)
  const points = sample(
    ['profile-save-begun', 'blob-written', 'blob-named', 'profile-stored', 'profile-committed'],
    'crashPoints',
  )
  let id = ''
  for (const [index, at] of points.entries()) {
    const env = { ...site.allow, BERTH_CRASH_AT: at }
    const doomed = await startServer(t, { hasRealInstances, dataDir, env })
    id ||= (await createProfile(doomed)).id
    if (index > 0) await assertKnows(doomed, site, id, points[index - 1]!)
    const session = await sessionOf(doomed, site, id, at)
    await send(doomed, 'DELETE', `/browsers/${session.session_id}`).catch(() => undefined)
    await eventually(`a kill at ${at}`, () => doomed.process.signalCode === 'SIGKILL')
    // The repair passes the same point, so a server without the crash point does it.
    const server = await startServer(t, { hasRealInstances, dataDir, env: site.allow })
    assert.deepEqual(await whenSaved(server, session.session_id), { state: 'saved', version: index + 1 }, at)
    await agrees(server)
    // Until then, nothing refers to the bytes of the first attempt; the next sweep removes them.
    const [{ unknown }] = (await query<{ unknown: number }>(
      server,
      'SELECT count(*)::int AS unknown FROM blobs WHERE id NOT IN (SELECT blob_id FROM profile_versions)',
    )) as [{ unknown: number }]
    assert.equal(unknown, 0)
    assert.equal(await server.stop('SIGTERM'), 0)
  }
})

test('kills at random moments of a save lose nothing that was acknowledged', async (t) => {
  const rounds = amount('profileKills')
  assert.deepEqual(await profileKillRounds(t, rounds), { saved: rounds })
})

test('a server that is away for longer than the lease leaves the previous version, and the session says so', async (t) => {
  const site = await startMemberSite(t)
  const dataDir = tempDir(t)
  const env = { ...site.allow, BERTH_LEASE_SECONDS: '2' }
  const first = await startServer(t, { hasRealInstances, dataDir, env })
  const { id } = await createProfile(first)
  const saved = await sessionOf(first, site, id, 'before')
  await endSession(first, saved.session_id)
  await whenSaved(first, saved.session_id)
  await first.stop('SIGTERM')
  const doomed = await startServer(t, {
    hasRealInstances,
    dataDir,
    env: { ...env, BERTH_CRASH_AT: 'profile-stored' },
  })
  const session = await sessionOf(doomed, site, id, 'lost')
  const instance = await instanceOf(doomed, session)
  await send(doomed, 'DELETE', `/browsers/${session.session_id}`).catch(() => undefined)
  await eventually('a kill', () => doomed.process.signalCode === 'SIGKILL')
  await eventually('its instance ends itself', () => processesOf(instance).length === 0)
  const server = await startServer(t, { hasRealInstances, dataDir, env })
  assert.deepEqual(await whenSaved(server, session.session_id), {
    state: 'failed',
    message: 'its instance was lost',
  })
  await assertKnows(server, site, id, 'before')
})

test('stopping the server saves its sessions, and a session that crashes is not saved', async (t) => {
  const site = await startMemberSite(t)
  const dataDir = tempDir(t)
  const first = await startServer(t, { hasRealInstances, dataDir, env: site.allow })
  const { id } = await createProfile(first)
  // On standby, like an unused session.
  const session = await sessionOf(first, site, id, 'stopped')
  const empty = await createProfile(first)
  const left = await sessionOf(first, site, empty.id, 'left')
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  assert.equal(await first.stop('SIGTERM'), 0)
  const second = await startServer(t, { hasRealInstances, dataDir, env: site.allow })
  await endSession(second, left.session_id)
  assert.equal((await whenSaved(second, left.session_id)).state, 'saved')
  assert.equal(await second.stop('SIGINT'), 0)
  const third = await startServer(t, { hasRealInstances, dataDir, env: site.allow })
  assert.deepEqual(await whenSaved(third, session.session_id), { state: 'saved', version: 1 })
  await assertKnows(third, site, id, 'stopped')
  await assertKnows(third, site, empty.id, 'left')

  const dying = await sessionOf(third, site, id, 'dead')
  for (const { pid } of processesOf(await instanceOf(third, dying))) killQuietly(pid)
  await endsAs(third, dying, { reason: 'crashed', withinMs: 10_000 })
  assert.deepEqual(await whenSaved(third, dying.session_id), {
    state: 'failed',
    message: 'the session ended as crashed',
  })
  await assertKnows(third, site, id, 'stopped')
})

test('a full disk during a save leaves the previous version', async (t) => {
  const site = await startMemberSite(t)
  const dataDir = tempDir(t)
  const blobs = smallDisk(t, joinPath(dataDir, 'blobs'))
  const server = await startServer(t, { hasRealInstances, dataDir, env: site.allow })
  const { id } = await createProfile(server)
  const first = await sessionOf(server, site, id, 'fits')
  await endSession(server, first.session_id)
  assert.equal((await whenSaved(server, first.session_id)).state, 'saved')

  const fill = () => {
    const { bavail, bsize } = statfsSync(blobs)
    writeFileSync(joinPath(blobs, 'filling'), Buffer.alloc(Math.max(0, bavail - 8) * bsize))
  }
  fill()
  const second = await sessionOf(server, site, id, 'too much')
  const explicit = await send<ProfileVersion>(server, 'POST', `/browsers/${second.session_id}/profile/save`)
  assert.equal(explicit.status, 507, JSON.stringify(explicit.body))
  await endSession(server, second.session_id)
  assert.deepEqual(await whenSaved(server, second.session_id, 60_000), {
    state: 'failed',
    message: 'the disk of the server is full',
  })
  await assertKnows(server, site, id, 'fits')
  assert.equal((await versionsOf(server, id)).length, 1)

  // Space that becomes free in time is enough.
  const third = await sessionOf(server, site, id, 'in time')
  const before = server.output().length
  const ended = endSession(server, third.session_id)
  await eventually('it was tried', () =>
    server.output().slice(before).includes('retrying the save of a session'),
  )
  rmSync(joinPath(blobs, 'filling'))
  await ended
  assert.deepEqual(await whenSaved(server, third.session_id), { state: 'saved', version: 2 })
  await assertKnows(server, site, id, 'in time')
})

test('any server of a fleet attaches, saves and ends', async (t) => {
  const site = await startMemberSite(t)
  const database = await newDatabase(t)
  const env = {
    ...site.allow,
    DATABASE_URL: database.url,
    BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BERTH_API_KEY: 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345',
  }
  const owner = await startServer(t, { hasRealInstances, env })
  // A fleet shares one blob store.
  const otherDir = tempDir(t)
  symlinkSync(joinPath(owner.dataDir, 'blobs'), joinPath(otherDir, 'blobs'))
  const other = await startServer(t, { hasRealInstances, env, dataDir: otherDir })
  const { id } = await createProfile(other)
  const session = await createSession(owner)
  await withCdp(session.cdp_ws_url, (cdp) => join(cdp, site, 'afar'))
  const profile = { id, save_changes: true }
  const attached = await send(other, 'PATCH', `/browsers/${session.session_id}`, { profile })
  assert.equal(attached.status, 200, JSON.stringify(attached.body))
  const saved = await send<ProfileVersion>(other, 'POST', `/browsers/${session.session_id}/profile/save`)
  assert.equal(saved.body.version, 1, JSON.stringify(saved.body))
  await withCdp(session.cdp_ws_url, (cdp) => join(cdp, site, 'farther'))
  await endSession(other, session.session_id)
  await assertKnows(other, site, id, 'farther')
  assert.equal((await readProfile(owner, id)).version, 2)
})

/** A separate file system with room for one archive. */
function smallDisk(t: TestContext, directory: string): string {
  mkdirSync(directory)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=700', 'none', directory])
  cleanUpAfter(t, () => {
    execFileSync('umount', [directory])
  })
  return directory
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Already removed with another one.
  }
}
