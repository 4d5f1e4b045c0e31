// Sessions created, used and deleted one after another: a server uses no more memory after many than after a few.
// Used by the test (some) and by `npm run soak` (many).
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { agrees } from '../fixtures/agreement.ts'
import { withCdp } from '../fixtures/cdp.ts'
import { COLLECTABLE, openCollector } from '../fixtures/collector.ts'
import { footprintOf, type Footprint } from '../fixtures/footprint.ts'
import { eventually } from '../fixtures/host.ts'
import type { TestServer } from '../fixtures/server.ts'
import { createSession, metric, send } from '../fixtures/sessions.ts'

const WARM = 1
/** A server for the cycles; it keeps one headless instance warm. */
export const CYCLES_ENV = { ...COLLECTABLE, BERTH_WARM_HEADLESS: String(WARM) }

export interface Cycles {
  readonly count: number
  /** The early cycles that the same number of last cycles is compared with. */
  readonly from: number
  readonly to: number
}

export interface Growth {
  readonly before: Footprint
  readonly after: Footprint
  /** Median milliseconds of each step. */
  readonly createBefore: number
  readonly createAfter: number
}

export async function cycles(server: TestServer, { count, from, to }: Cycles): Promise<Growth> {
  using collector = await openCollector(server)
  const seen: Footprint[] = []
  const creates: number[] = []
  for (let index = 0; index < count; index++) {
    const startedAt = performance.now()
    const { session_id, cdp_ws_url } = await createSession(server, { headless: true })
    creates.push(performance.now() - startedAt)
    const result = withCdp(cdp_ws_url, (cdp) => cdp.evaluate(`globalThis.kept = ${index}`))
    assert.equal(await result, index)
    assert.equal((await send(server, 'DELETE', `/browsers/${session_id}`)).status, 204)
    await atRest(server)
    await collector.collect()
    seen.push(footprintOf(server))
  }
  await agrees(server)
  const length = to - from
  return {
    before: middleOf(seen.slice(from, to)),
    after: middleOf(seen.slice(-length)),
    createBefore: middle(creates.slice(from, to)),
    createAfter: middle(creates.slice(-length)),
  }
}

/** Only the warm instance for the next session. */
async function atRest(server: TestServer): Promise<void> {
  await eventually('it is at rest', async () => {
    if (footprintOf(server).directories !== WARM) return false
    // Measuring costs the server something, which must not count.
    await delay(100)
    return (await metric(server, 'berth_warm_instances{kind="headless"}')) === WARM
  })
}

const MAX_GROWTH = 1.05

export function assertNoGrowth({ before, after }: Growth): void {
  for (const [what, value] of Object.entries(after) as [keyof Footprint, number][]) {
    const most = before[what] * MAX_GROWTH
    assert.ok(value <= most, `${what} grew from ${before[what]} to ${value}`)
  }
}

function middleOf(footprints: readonly Footprint[]): Footprint {
  const names = Object.keys(footprints[0]!) as (keyof Footprint)[]
  const entries = names.map((name) => [name, middle(footprints.map((each) => each[name]))] as const)
  // SAFETY: built from the keys of a footprint.
  return Object.fromEntries(entries) as Record<keyof Footprint, number>
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}
