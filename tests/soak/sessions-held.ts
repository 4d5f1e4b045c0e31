// Many sessions with many clients, all of them asking now and then, for a long time: no call fails.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { agrees } from '../fixtures/agreement.ts'
import { CdpClient } from '../fixtures/cdp.ts'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { footprintOf } from '../fixtures/footprint.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession } from '../fixtures/sessions.ts'

const SESSIONS = 40
const CLIENTS_OF_EACH = 5
const EVERY_MS = 1_000

export interface Held {
  readonly calls: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly slowestMs: number
  readonly rssMb: { readonly begin: number; readonly end: number }
}

export async function holdSessions(owner: Owner, seconds: number): Promise<Held> {
  const server = await startServer(owner, { hasRealInstances: true })
  const clients: CdpClient[] = []
  cleanUpAfter(owner, () => clients.forEach((client) => client.terminate()))
  for (let count = 0; count < SESSIONS; count += 4) {
    const sessions = await Promise.all(Array.from({ length: 4 }, () => createSession(server)))
    for (const { cdp_ws_url } of sessions) {
      for (let each = 0; each < CLIENTS_OF_EACH; each++) clients.push(await CdpClient.open(cdp_ws_url))
    }
  }
  await agrees(server)
  const begin = footprintOf(server).rssMb
  const times: number[] = []
  const until = performance.now() + seconds * 1000
  await Promise.all(
    clients.map(async (client, index) => {
      // Apart from each other, as they would be.
      await delay((index / clients.length) * EVERY_MS)
      for (let count = 0; performance.now() < until; count++) {
        const askedAt = performance.now()
        assert.equal(await client.evaluate(`${index} + ${count}`), index + count)
        times.push(performance.now() - askedAt)
        await delay(EVERY_MS)
      }
    }),
  )
  await agrees(server)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)]! * 10) / 10
  return {
    calls: times.length,
    medianMs: at(0.5),
    p99Ms: at(0.99),
    slowestMs: at(1),
    rssMb: { begin: Math.round(begin), end: Math.round(footprintOf(server).rssMb) },
  }
}
