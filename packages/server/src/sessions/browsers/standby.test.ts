import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import type { Instance } from '../../instances/driver/driver.ts'
import { Standby, type Depth } from './standby.ts'
import { NoRoomToWake } from './wake-turns.ts'

/** Freezes, and moves its memory when it is told that it may. */
class FrozenInstance {
  readonly id = 'instance'
  isFrozen = false
  isPagedOut = false
  readonly calls: string[] = []
  moved = Promise.withResolvers<void>()

  async freeze(): Promise<void> {
    this.calls.push('freeze')
    this.isFrozen = true
  }

  async thaw(): Promise<void> {
    this.calls.push('thaw')
    this.isFrozen = false
    this.isPagedOut = false
    this.moved.resolve()
  }

  async pageOut() {
    this.calls.push('pageOut')
    await this.moved.promise
    this.isPagedOut = this.isFrozen
    return { residentBytes: 10, swappedBytes: 90 }
  }
}

function start(t: TestContext, instance = new FrozenInstance()) {
  const wakes: Depth[] = []
  const asked: number[] = []
  const host: { room: () => Promise<void> } = { room: async () => {} }
  const standby = new Standby({
    instance: instance as Partial<Instance> as Instance,
    rule: { whenFreeMs: 1, whenSilentMs: null },
    uptimeMs: 0,
    roomToWake: (bytes) => {
      asked.push(bytes)
      return host.room()
    },
    untilAnswering: async () => {},
    onWoken: (depth) => wakes.push(depth),
    onSwitch: () => {},
    log: pino({ level: 'silent' }),
  })
  t.after(() => standby.close())
  return { standby, instance, wakes, asked, host }
}

async function asleep(standby: Standby, instance: FrozenInstance): Promise<void> {
  while (!instance.isFrozen || !standby.isAsleep) await new Promise((resolve) => setTimeout(resolve, 1))
}

test('a session sinks from light to deep standby, and wakes from there when there is room', async (t) => {
  const { standby, instance, wakes, asked } = start(t)
  assert.equal(standby.depth, undefined)
  await asleep(standby, instance)
  assert.equal(standby.depth, 'light')
  instance.moved.resolve()
  await standby.sink()
  assert.equal(standby.depth, 'deep')
  assert.deepEqual(standby.memory, { residentBytes: 10, swappedBytes: 90 })
  using hold = standby.hold()
  await standby.wake()
  hold.stir()
  assert.equal(standby.depth, undefined)
  assert.equal(standby.memory, undefined, 'what was seen asleep is no longer true')
  assert.deepEqual(asked, [90])
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(wakes, ['deep'])
  assert.ok(standby.lastWakeMs! >= 0)
})

test('whoever wakes it does not wait until its memory has been moved', async (t) => {
  const { standby, instance, wakes, asked } = start(t)
  await asleep(standby, instance)
  const sinking = standby.sink()
  using hold = standby.hold()
  await standby.wake()
  hold.stir()
  await sinking
  assert.equal(standby.depth, undefined)
  assert.deepEqual(asked, [], 'it was not deep yet')
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(wakes, ['light'])
})

test('callers who wake it together wait for room once, and it stays asleep when there is none', async (t) => {
  const { standby, instance, asked, host } = start(t)
  await asleep(standby, instance)
  instance.moved.resolve()
  await standby.sink()
  host.room = () => Promise.reject(new NoRoomToWake('full'))
  using hold = standby.hold()
  const calls = [standby.wake(), standby.wake()]
  hold.stir()
  for (const call of calls) await assert.rejects(call, NoRoomToWake)
  assert.equal(asked.length, 1)
  assert.equal(standby.depth, 'deep')
  assert.equal(instance.calls.includes('thaw'), false)
  host.room = async () => {}
  await standby.wake()
  assert.equal(standby.depth, undefined)
})

test('what an earlier server left in deep standby sleeps on, without uptime', async (t) => {
  const instance = new FrozenInstance()
  instance.isFrozen = true
  instance.isPagedOut = true
  const { standby } = start(t, instance)
  assert.equal(standby.depth, 'deep')
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(standby.uptimeMs, 0)
  assert.deepEqual(instance.calls, [])
})
