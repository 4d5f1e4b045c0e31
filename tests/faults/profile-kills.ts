// The server is killed at a random moment after a session was deleted, while it is being saved. The next server
// finishes the save, and the profile is never incomplete.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { agrees } from '../fixtures/agreement.ts'
import { withCdp } from '../fixtures/cdp.ts'
import type { Owner } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { everything, join, knownAt, nothing, startMemberSite } from '../fixtures/member-site.ts'
import { createProfile, readProfile, whenSaved } from '../fixtures/profiles.ts'
import { seededRandom } from '../fixtures/random.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'

/** About the duration of a save. */
const MAX_KILL_DELAY_MS = 500

export async function profileKillRounds(owner: Owner, rounds: number): Promise<{ saved: number }> {
  const site = await startMemberSite(owner)
  const dataDir = tempDir(owner)
  const random = seededRandom('kills during saves of profiles')
  const settings = { hasRealInstances: true, hasOwnPostgres: true, dataDir, env: site.allow }
  let server = await startServer(owner, settings)
  const profile = await createProfile(server)
  let last: string | undefined
  for (let round = 0; round < rounds; round++) {
    const session = await createSession(server, { profile: { id: profile.id, save_changes: true } })
    const name = `round-${round}`
    await withCdp(session.cdp_ws_url, async (cdp) => {
      assert.deepEqual(await knownAt(cdp, site), last === undefined ? nothing : everything(last))
      await join(cdp, site, name)
    })
    const path = `/browsers/${session.session_id}`
    let isAcknowledged = false
    void send(server, 'DELETE', path).then(
      ({ status }) => (isAcknowledged = status === 204),
      () => {},
    )
    await eventually('its end is stored', async () => {
      const { body } = await send<Browser>(server, 'GET', `${path}?include_deleted=true`)
      return body.deleted_at !== undefined
    })
    await delay(random.next() * MAX_KILL_DELAY_MS)
    const wasSaved = isAcknowledged
    await server.stop('SIGKILL')
    server = await startServer(owner, settings)
    if (wasSaved) {
      const { body } = await send<Browser>(server, 'GET', `${path}?include_deleted=true`)
      assert.equal(body.profile_save?.state, 'saved', `round ${round}: it was acknowledged`)
    }
    const { state } = await whenSaved(server, session.session_id)
    assert.equal(state, 'saved', `round ${round}`)
    last = name
  }
  assert.equal((await readProfile(server, profile.id)).version, rounds)
  await agrees(server)
  return { saved: rounds }
}
