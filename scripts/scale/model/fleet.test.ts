import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fleet } from './fleet.ts'
import type { Scenario } from './inputs.ts'
import { atArrivals, climb, limitOf } from './ladder.ts'

const cost = (changes: object = {}) => ({
  statements: 10,
  transactions: 2,
  walBytes: 5_000,
  databaseMs: 2,
  serverMs: 10,
  ...changes,
})
const idle = (milliseconds: number) =>
  cost({ statements: 0.1, databaseMs: milliseconds, serverMs: milliseconds })

/** Small and round, so that a person can follow it. */
const small: Scenario = {
  readings: {
    create: cost(),
    refill: cost({ statements: 0 }),
    delete: cost(),
    connect: cost(),
    idleServer: idle(1),
    idleSession: idle(0.05),
    idleWarm: idle(0.05),
    events: cost({ statements: 2 }),
    takeOver: cost({ serverMs: 5 }),
    countMsPerSession: 0.0005,
    reserveMs: 1,
    watchEventMs: 0.2,
    podBytes: 10_000,
    serverBytes: 200e6,
    sessionBytes: 300_000,
    socketsPerSession: 4,
    linkBytesPerSecond: 100,
    createMs: 30,
  },
  limits: {
    callSeconds: 0.01,
    schedulerPerSecond: 50,
    schedulerBurst: 100,
    startSeconds: 2,
    startSpread: 0.2,
    startsAtOncePerNode: 4,
    endSeconds: 1,
    collectedPerSecond: 20,
    callsPerPod: 15,
    writesPerPod: 20,
    watchEventsPerPod: 5,
    etcdWritesPerSecond: 5_000,
  },
  plan: {
    servers: 4,
    warm: 10,
    refillsAtOnce: 4,
    startsAtOnce: 33,
    databaseCores: 4,
    databasePool: 10,
    roundTripSeconds: 0.0005,
    commitSeconds: 0.002,
    nodes: 20,
    roomPerNode: 50,
    leaseSeconds: 20,
  },
  load: { sessions: 500, sessionSeconds: 250, coldShare: 0, eventsPerSession: 0 },
  seed: 1,
  warmUpSeconds: 30,
  seconds: 300,
}
const run = (changes: Partial<Scenario> = {}) => new Fleet({ ...small, ...changes }).run()

test('what arrives is created, and as many live as arrivals times length', () => {
  const result = run()
  assert.equal(result.arrivals, 2)
  assert.ok(Math.abs(result.created - 600) < 100, String(result.created))
  assert.ok(Math.abs(result.live - 500) < 80, String(result.live))
  assert.equal(result.refused, 0)
  assert.ok(result.warmShare > 0.99, String(result.warmShare))
  assert.ok(result.latency.p50 < 0.05, String(result.latency.p50))
})

test('the same seed gives the same run', () => {
  assert.deepEqual(run(), run())
})

test('statements are those of creates and deletes, and those of all that is just there', () => {
  const { statementsPerSecond } = run()
  // 2 creates and 2 deletes with 10 each, 4 servers and 500 sessions with 0.1 each.
  assert.ok(Math.abs(statementsPerSecond - (40 + 50.4)) < 10, String(statementsPerSecond))
})

test('a stock that is made more slowly than it is claimed runs out', () => {
  const load = { ...small.load, sessionSeconds: 50 }
  const one = run({ load, plan: { ...small.plan, refillsAtOnce: 1 } })
  const four = run({ load, plan: { ...small.plan, refillsAtOnce: 8, warm: 20 } })
  // 10 in a second, and 4 servers make one in 2 s each: 2 of 10.
  assert.ok(Math.abs(one.warmShare - 0.2) < 0.07, String(one.warmShare))
  assert.ok(four.warmShare > 0.95, String(four.warmShare))
  assert.ok(one.latency.p95 > 2)
  assert.ok(four.latency.p95 < 0.5)
})

test('a full cluster refuses, after a wait', () => {
  const { refused, uses } = run({ plan: { ...small.plan, nodes: 10, warm: 5 } })
  assert.ok(refused > 0)
  assert.ok(uses['room for Pods'].utilisation > 0.95)
})

test('the lock lets creates through one after another', () => {
  const readings = { ...small.readings, countMsPerSession: 0.2 }
  const { uses, latency } = run({ readings, load: { ...small.load, sessionSeconds: 50 } })
  // 500 sessions take 100 ms to count, ten times a second.
  assert.ok(
    uses['lock of the organisation'].utilisation > 0.97,
    String(uses['lock of the organisation'].utilisation),
  )
  assert.ok(latency.p50 > 1, String(latency.p50))
})

test('Secrets are left when they come faster than they are collected', () => {
  const { secretsLeft } = run({ load: { ...small.load, sessionSeconds: 20 } })
  // 25 in a second, of which 20 go.
  assert.ok(secretsLeft > 1_000, String(secretsLeft))
})

test('a server that is lost leaves its sessions to the others, within the lease', () => {
  const { recovery } = run({ incident: { kind: 'server-lost', at: 60 } })
  assert.ok(Math.abs(recovery.taken - 125) < 40, String(recovery.taken))
  assert.equal(recovery.lost, 0)
  assert.ok(recovery.takenAfter! > 5.5 && recovery.takenAfter! < 12, String(recovery.takenAfter))
})

test('sessions that nobody takes in time are lost', () => {
  const readings = { ...small.readings, takeOver: cost({ serverMs: 800 }) }
  const { recovery } = run({ readings, incident: { kind: 'server-lost', at: 60 } })
  assert.ok(recovery.lost > 0)
})

test('a node that is lost takes its sessions with it, and the stock is made elsewhere', () => {
  const { recovery, live } = run({ incident: { kind: 'node-lost', at: 60 } })
  assert.ok(recovery.lost > 10 && recovery.lost < 50, String(recovery.lost))
  assert.ok(recovery.refilledAfter! < 60, String(recovery.refilledAfter))
  assert.ok(live > 400, String(live))
})

test('a burst takes the stock, and some wait for instances that are made for them', () => {
  const { burstLatency, recovery } = run({ incident: { kind: 'burst', at: 60, count: 100 } })
  assert.ok(burstLatency.p50 > 1, String(burstLatency.p50))
  assert.ok(recovery.refilledAfter! > 3 && recovery.refilledAfter! < 60, String(recovery.refilledAfter))
})

test('the ladder names what gives way, and goes on without it', () => {
  const rungs = [...climb({ ...small, seconds: 60 }, { arrivals: [2, 5, 10, 15, 20, 25, 30], rungs: 3 })]
  assert.equal(rungs.length, 3)
  for (const { limit, held, brokeAt, result } of rungs) {
    assert.ok(held < brokeAt)
    assert.equal(limitOf(result, small), limit)
  }
  assert.equal(new Set(rungs.map(({ limit }) => limit)).size > 1, true)
})

test('more arrivals with as many sessions mean shorter ones', () => {
  assert.equal(atArrivals(small, 10).load.sessionSeconds, 50)
})
