import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { FairBandwidth } from './fair-bandwidth.ts'

const CHUNK = 1_000
const TICK_MS = 25
/** 40 chunks a tick. */
const bytesPerSecond = (40 * CHUNK * 1_000) / TICK_MS

/** Connections that pass chunks as quickly as they may; counts the chunks of each project. */
function start(bandwidth: FairBandwidth, connections: Readonly<Record<string, number>>) {
  const passed: Record<string, number> = {}
  const open = new Set(Object.keys(connections))
  const run = (project: string) => {
    while (open.has(project)) {
      passed[project] = (passed[project] ?? 0) + 1
      if (!bandwidth.take(project, CHUNK, () => run(project))) return
    }
  }
  for (const [project, count] of Object.entries(connections)) {
    for (let index = 0; index < count; index++) run(project)
  }
  return { passed, stop: (project: string) => open.delete(project) }
}

function withTicks(t: TestContext): (count: number) => void {
  t.mock.timers.enable({ apis: ['setInterval'] })
  return (count) => t.mock.timers.tick(count * TICK_MS)
}

/** Within 5 percent. */
function assertNear(value: number, expected: number): void {
  assert.ok(Math.abs(value - expected) <= expected / 20, `${value} instead of ${expected}`)
}

test('a project that is alone has the whole bandwidth, however many connections it has', (t) => {
  const tick = withTicks(t)
  for (const connections of [1, 100]) {
    const { passed, stop } = start(new FairBandwidth({ bytesPerSecond }), { a: connections })
    tick(200)
    assertNear(passed['a']!, 200 * 40)
    stop('a')
  }
})

test('projects share it equally, whatever the number of their connections', (t) => {
  const tick = withTicks(t)
  const { passed } = start(new FairBandwidth({ bytesPerSecond }), { a: 200, b: 1, c: 10 })
  tick(1_000)
  for (const project of ['a', 'b', 'c']) assertNear(passed[project]!, (1_000 * 40) / 3)
})

test('what one does not use is for the others', (t) => {
  const tick = withTicks(t)
  const bandwidth = new FairBandwidth({ bytesPerSecond })
  const { passed, stop } = start(bandwidth, { a: 10, b: 1 })
  tick(100)
  stop('b')
  const before = passed['a']!
  tick(100)
  assertNear(passed['a']! - before, 100 * 40)
  // A little traffic of another is never held up.
  for (let count = 0; count < 50; count++) {
    assert.ok(bandwidth.take('c', CHUNK, () => assert.fail('was held up')))
    tick(1)
  }
})
