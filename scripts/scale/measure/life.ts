// What a session costs over its life: create, a client, a delete, and the instance that is made in its place.
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { once } from 'node:events'
import type { Owner } from '../../../tests/fixtures/cleanup.ts'
import { createSession, send } from '../../../tests/fixtures/sessions.ts'
import type { Cost } from '../model/inputs.ts'
import { costBetween, costPerSecond, Meter } from './meter.ts'
import { eventually, startRig, STILL, warmCount } from './rig.ts'

export interface LifeReadings {
  readonly create: Cost[]
  readonly connect: Cost[]
  readonly refill: Cost[]
  readonly delete: Cost[]
  /** Answer times of all creates. */
  readonly createMs: number[]
  /** Calls to the cluster's API for each session, with the instance made in its place. */
  readonly callsPerSession: number
  readonly watchEventsPerPod: number
  readonly watchEventBytes: number
}

export async function measureLife(
  owner: Owner,
  { sessions, rounds, idleMs }: { sessions: number; rounds: number; idleMs: number },
): Promise<LifeReadings> {
  const rig = await startRig(owner)
  const { cluster } = rig
  const server = await rig.startServer({ BERTH_WARM_HEADLESS: String(sessions) })
  const isFull = async () => (await warmCount(server)) === sessions
  await eventually('the stock is full', isFull)
  // The first sessions load what is loaded at first use.
  const one = await createSession(server, STILL)
  await use(one.cdp_ws_url)
  await send(server, 'DELETE', `/browsers/${one.session_id}`)
  await eventually('the stock is full', isFull)
  const meter = new Meter(rig, server)
  const idleFrom = await meter.read({ isExact: true })
  await pause(idleMs)
  const idle = costPerSecond(idleFrom, await meter.read({ isExact: true }))
  const costs = { create: [], connect: [], refill: [], delete: [] } as Record<
    'create' | 'connect' | 'refill' | 'delete',
    Cost[]
  >
  const createMs: number[] = []
  const before = await cluster.report()
  for (let round = 0; round < rounds; round++) {
    // Counting transactions takes long, and they are the same each time.
    const how = { isExact: round === 0 }
    // What is made in their place is counted by itself.
    await cluster.order({ hold: true })
    const made = []
    const fresh = await meter.read(how)
    for (let count = 0; count < sessions; count++) {
      const startedAt = performance.now()
      made.push(await createSession(server, STILL))
      createMs.push(performance.now() - startedAt)
    }
    // Reads are written to the audit log a moment later.
    await pause(1_500)
    const created = await meter.read(how)
    costs.create.push(costBetween(fresh, created, { count: sessions, idle }))

    const still = created
    for (const { cdp_ws_url } of made) await use(cdp_ws_url)
    await pause(1_500)
    const used = await meter.read(how)
    costs.connect.push(costBetween(still, used, { count: sessions, idle }))

    const empty = used
    await cluster.order({ hold: false })
    await eventually('the stock is full', isFull)
    const whole = await meter.read(how)
    costs.refill.push(costBetween(empty, whole, { count: sessions, idle }))

    for (const { session_id } of made) await send(server, 'DELETE', `/browsers/${session_id}`)
    await pause(1_500)
    costs.delete.push(costBetween(whole, await meter.read(how), { count: sessions, idle }))
  }
  const after = await cluster.report()
  const count = sessions * rounds
  const calls = (['create_pod', 'create_secret', 'delete_pod'] as const).reduce(
    (sum, name) => sum + after.calls[name] - before.calls[name],
    0,
  )
  await server.stop()
  return {
    ...costs,
    createMs,
    callsPerSession: calls / count,
    watchEventsPerPod: (after.events - before.events) / count,
    watchEventBytes: (after.eventBytes - before.eventBytes) / (after.events - before.events),
  }
}

async function use(url: string): Promise<void> {
  const client = new WebSocket(url)
  await once(client, 'open')
  client.close()
  await once(client, 'close')
}
