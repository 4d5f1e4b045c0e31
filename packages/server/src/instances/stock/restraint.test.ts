import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import type { InstanceLimits } from '../driver/driver.ts'
import { Restraint } from './restraint.ts'

const limits: InstanceLimits = { memoryBytes: 1, processes: 1, cpus: 100, homeBytes: 1 }
const PART = 0.15 * availableParallelism()

function start(isSomebodyThere: () => boolean) {
  const seen: (number | string)[] = []
  const instance = {
    setLimits: async ({ cpus }: InstanceLimits) => void seen.push(cpus),
    setBackground: async () => void seen.push('ordinary'),
  }
  return { seen, restraint: new Restraint({ instance, limits, isSomebodyThere }) }
}

test('slows a start only while a session is in use', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let isThere = true
  const { seen, restraint } = start(() => isThere)
  assert.deepEqual(seen, [PART])
  isThere = false
  t.mock.timers.tick(250)
  t.mock.timers.tick(250)
  assert.deepEqual(seen, [PART, 100])
  isThere = true
  t.mock.timers.tick(250)
  restraint[Symbol.dispose]()
  t.mock.timers.tick(1_000)
  assert.deepEqual(seen, [PART, 100, PART, 100])
})

test('slows a start for a limited time', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const now = t.mock.method(performance, 'now', () => 0)
  const { seen, restraint } = start(() => true)
  now.mock.mockImplementation(() => 20_001)
  t.mock.timers.tick(250)
  t.mock.timers.tick(250)
  restraint[Symbol.dispose]()
  assert.deepEqual(seen, [PART, 'ordinary', 100])
})
