// What events cost: sessions whose pages write to the console once a second, against the same sessions without events.
import { setTimeout as pause } from 'node:timers/promises'
import type { Owner } from '../../../tests/fixtures/cleanup.ts'
import { createSession } from '../../../tests/fixtures/sessions.ts'
import type { Cost } from '../model/inputs.ts'
import { combine, costPerSecond, Meter } from './meter.ts'
import { startRig, STILL } from './rig.ts'

const SETTLE_MS = 3_000
const EVENT = { eventsPerSecond: 1, eventBytes: 200 }

export interface TelemetryReadings {
  readonly sessions: number
  /** A second of one session with one event a second, beyond what it costs without; for each window. */
  readonly each: Cost[]
}

export async function measureTelemetry(
  owner: Owner,
  { sessions, windows, windowMs }: { sessions: number; windows: number; windowMs: number },
): Promise<TelemetryReadings> {
  const rig = await startRig(owner)
  const server = await rig.startServer()
  const meter = new Meter(rig, server)
  const window = async () => {
    await pause(SETTLE_MS)
    const before = await meter.read()
    await pause(windowMs)
    return costPerSecond(before, await meter.read())
  }
  for (let count = 0; count < sessions; count++) await createSession(server, STILL)
  const quiet = await window()
  await rig.cluster.order(EVENT)
  const telemetry = { browser: { console: { enabled: true } } }
  for (let count = 0; count < sessions; count++) await createSession(server, { ...STILL, telemetry })
  const each: Cost[] = []
  for (let count = 0; count < windows; count++) {
    const busy = await window()
    // As many others are there that cost the same as before.
    each.push(combine(busy, quiet, (all, none) => Math.max(0, all - none) / sessions))
  }
  await server.stop()
  return { sessions, each }
}
