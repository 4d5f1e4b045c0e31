// With the helper on the nodes, a session that nobody uses stands still, and goes on where it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createSession, send } from '../../fixtures/sessions.ts'
import { Fleet, type Pod } from './fleet.ts'
import { ask, askThrough, killServer } from './loss.ts'
import { insist } from './work.ts'

const TEST_MS = 600_000
const LEASE_SECONDS = 20
/** It goes on standby after 5 s. */
const AWAY_MS = 20_000
const TICK_MS = 100

test(
  'a session stands still without clients, also when its server is lost',
  { timeout: TEST_MS },
  async (t) => {
    const fleet = await Fleet.install(t, {
      values: { freezer: { enabled: true } },
      secrets: { BERTH_KUBERNETES_FREEZER_KEY: 'a-key-of-the-helper-on-each-node' },
      settings: { BERTH_LEASE_SECONDS: String(LEASE_SECONDS) },
    })
    const [first, second] = (await fleet.servers()) as [Pod, Pod]
    const session = await createSession(fleet.at(first))
    await ask(session, `globalThis.ticks = 0; setInterval(() => ticks++, ${TICK_MS}); 0`)
    await pause(AWAY_MS)
    const startedAt = performance.now()
    const ticks = Number(await ask(session, 'ticks'))
    t.diagnostic(`a client was answered ${(performance.now() - startedAt).toFixed(0)} ms after it came back`)
    assert.ok(ticks > 0)
    assert.ok(ticks * TICK_MS < 0.7 * AWAY_MS, `it ran for ${ticks * TICK_MS} of ${AWAY_MS} ms`)

    await pause(AWAY_MS / 2)
    killServer(first)
    const rest = fleet.at(second)
    const seen = await askThrough(rest, session, { expression: 'ticks', withinMs: 3 * LEASE_SECONDS * 1000 })
    assert.ok(Number(seen) >= ticks, 'it is the same page')
    assert.equal(
      (await send(rest, 'POST', '/browsers', { standby_after_seconds: 5, headless: true })).status,
      200,
    )
    // Those that stand still end as all others do.
    await pause(AWAY_MS / 2)
    const { body } = await send<{ session_id: string }[]>(rest, 'GET', '/browsers')
    assert.equal(body.length, 2)
    for (const { session_id: id } of body) await insist(rest, () => {}, 'DELETE', `/browsers/${id}`)
    await fleet.assertNothingLeft()
  },
)
