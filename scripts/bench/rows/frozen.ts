// That a session is on standby is seen by its uptime, which then stands still.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import type { SessionServer } from '../arms/session-server.ts'

const LOOK_EVERY_MS = 200
const MOST_WAIT_MS = 30_000

/** So that no session ends while it is slept over. */
export const LONG_TIMEOUT_SECONDS = 3_600

/** Resolves with the time since when it is frozen for sure. */
export async function whenFrozen(server: SessionServer, { session_id: id }: Browser): Promise<number> {
  const deadline = performance.now() + MOST_WAIT_MS
  let uptimeMs = -1
  for (;;) {
    const lookedAt = performance.now()
    const now = (await server.get(id)).usage!.uptime_ms
    if (now === uptimeMs) return lookedAt
    assert.ok(lookedAt < deadline, 'a session that nobody uses is not put on standby')
    uptimeMs = now
    await pause(LOOK_EVERY_MS)
  }
}
