// With stand-ins for sessions and for the driver, because the kernel would take minutes.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import type { DriverMemory, MemoryUse } from '../../instances/driver/driver.ts'
import { DeepStandby, type DeepStandbyOptions } from './deep-standby.ts'
import type { LiveSession } from './live-session.ts'

const MB = 2 ** 20
const GB = 1024 * MB
const on = { place: 'zram', problem: undefined, isUnwanted: false }
const off = { place: undefined, problem: 'no swap', isUnwanted: false }
const forever = new AbortController().signal

class StandIn {
  readonly id: string
  readonly projectId = 'project'
  readonly instance: { id: string }
  readonly isIdle = false
  state = 'standby'
  depth: 'light' | 'deep' | undefined = 'light'
  asleepMs = 0
  memory: MemoryUse | undefined
  readonly host: Host
  failure: Error | undefined

  constructor(host: Host, id: string, asleepMs: number) {
    this.host = host
    this.id = id
    this.instance = { id: `instance-${id}` }
    this.asleepMs = asleepMs
    host.uses.set(this.instance.id, { residentBytes: 300 * MB, swappedBytes: 0 })
  }

  saw(memory: MemoryUse | undefined): void {
    this.memory = memory
  }

  async sink(): Promise<void> {
    this.host.sunk.push(this.id)
    if (this.failure) throw this.failure
    this.depth = 'deep'
    this.memory = { residentBytes: 20 * MB, swappedBytes: 280 * MB }
    this.host.uses.set(this.instance.id, this.memory)
    this.host.freeBytes += 280 * MB
  }
}

class Host {
  freeBytes = 8 * GB
  readonly sunk: string[] = []
  readonly uses = new Map<string, MemoryUse>()
  keptFree = 0
  spared = 0
  report: DriverMemory['report'] = on
}

function start(t: TestContext, ages: Record<string, number>, more: Partial<DeepStandbyOptions> = {}) {
  const host = new Host()
  const sessions = new Map(
    Object.entries(ages).map(([id, asleepMs]) => [id, new StandIn(host, id, asleepMs)]),
  )
  const swap = { freeBytes: 4 * GB, totalBytes: 4 * GB }
  const deepStandby = new DeepStandby({
    // SAFETY: the members that it uses.
    live: { running: sessions as unknown as ReadonlyMap<string, LiveSession> as Map<string, LiveSession> },
    instances: {
      readMemory: async () => ({ report: host.report, swap, uses: host.uses }),
      keepFree: (bytes: number) => void (host.keptFree = bytes),
      spareOne: () => void host.spared++,
      // SAFETY: it reads only this of them.
      capabilities: { deepStandby: on } as DeepStandbyOptions['instances']['capabilities'],
    },
    afterSeconds: 60,
    log: pino({ level: 'silent' }),
    freeBytes: async () => host.freeBytes,
    hostBytes: 16 * GB,
    lookEveryMs: 5,
    ...more,
  })
  t.after(() => deepStandby.close())
  return { host, sessions, deepStandby }
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000
  while (!isTrue()) {
    assert.ok(performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('sessions whose time has come sink one after another, and room is kept for them to wake', async (t) => {
  const { host, deepStandby, sessions } = start(t, { young: 1_000, old: 90_000, older: 100_000 })
  deepStandby.look()
  await until(() => host.sunk.length === 2)
  assert.deepEqual(host.sunk, ['older', 'old'])
  await until(() => host.keptFree === 560 * MB)
  assert.equal(sessions.get('young')!.depth, 'light')
  sessions.get('young')!.asleepMs = 60_000
  await until(() => host.sunk.length === 3)
})

test('when memory is short they sink at once, until it is not', async (t) => {
  const { host, deepStandby } = start(t, { a: 1_000, b: 2_000, c: 3_000 })
  // Two of them make enough room, and more is kept for each that sleeps.
  host.freeBytes = 1_200 * MB
  deepStandby.look()
  await until(() => host.sunk.length > 0)
  assert.equal(host.sunk[0], 'c', 'the one that sleeps longest')
})

test('one that cannot be moved is left in peace for a while, and the others go on', async (t) => {
  const { host, deepStandby, sessions } = start(t, { a: 90_000, b: 80_000 })
  sessions.get('a')!.failure = new Error('it is full')
  deepStandby.look()
  await until(() => host.sunk.includes('b'))
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.deepEqual(host.sunk, ['a', 'b'])
})

test('without swap nothing sinks, and the reason is what the driver says last', async (t) => {
  const { host, deepStandby } = start(t, { a: 90_000 })
  host.report = off
  deepStandby.look()
  await until(() => deepStandby.report.problem === 'no swap')
  assert.deepEqual(host.sunk, [])
})

test('0 seconds is never, unless memory is short', async (t) => {
  const { host, deepStandby } = start(t, { a: 1e9 }, { afterSeconds: 0 })
  deepStandby.look()
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.deepEqual(host.sunk, [])
})

test('a session that wakes without room gets it from those that sleep, and then from warm instances', async (t) => {
  const { host, deepStandby } = start(t, { a: 1_000, b: 2_000 })
  host.freeBytes = 100 * MB
  await deepStandby.roomToWake(200 * MB, forever)
  assert.ok(host.sunk.length >= 1, 'before their time')
  host.freeBytes = 100 * MB
  const waking = deepStandby.roomToWake(200 * MB, forever)
  await until(() => host.spared > 0)
  assert.equal(deepStandby.waiting, 1)
  host.freeBytes = 8 * GB
  await waking
  assert.equal(deepStandby.waiting, 0)
})
