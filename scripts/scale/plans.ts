// The fleet that docs/scale.md describes.
import { kubernetes } from './limits.ts'
import type { Load, Plan, Readings, Scenario } from './model/inputs.ts'

export const plan: Plan = {
  servers: 20,
  warm: 15,
  refillsAtOnce: 4,
  startsAtOnce: 33,
  databaseCores: 8,
  databasePool: 10,
  roundTripSeconds: 0.0005,
  commitSeconds: 0.002,
  nodes: 200,
  roomPerNode: 55,
  leaseSeconds: 20,
}

export const load: Load = { sessions: 10_000, sessionSeconds: 600, coldShare: 0, eventsPerSession: 0 }

export const scenarioWith = (readings: Readings, changes: Partial<Scenario> = {}): Scenario => ({
  readings,
  limits: kubernetes,
  plan,
  load,
  seed: 1,
  warmUpSeconds: 60,
  seconds: 240,
  ...changes,
})
