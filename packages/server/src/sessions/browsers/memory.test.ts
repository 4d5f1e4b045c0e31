import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roundedDown, SessionMemory } from './memory.ts'

const instances = {
  memoryMbOf: ({ headless }: { headless: boolean }) => (headless ? 2048 : 4096),
  giveMemory: () => Promise.resolve(),
}
const screen = { hasScreen: true }

test('an answer never promises more than the limit', () => {
  const cases: [mb: number, shown: string][] = [
    [256, '1GiB'],
    [1024, '1GiB'],
    [2047, '1GiB'],
    [2048, '2GiB'],
    [4096, '2GiB'],
    [6144, '6GiB'],
    [8191, '6GiB'],
    [8192, '8GiB'],
    [1_000_000, '16GiB'],
  ]
  for (const [mb, shown] of cases) assert.equal(roundedDown(mb), shown, String(mb))
})

test('a request for more than the host or the operator has is refused with the number', () => {
  const memory = new SessionMemory({ instances, maxMb: 16_384, hostMb: 12_000 })
  assert.equal(memory.mbFor({ memory: '8GiB' }, screen), 8192)
  assert.throws(() => memory.mbFor({ memory: '16GiB' }, screen), /host has: 12000 MB/)
  const small = new SessionMemory({ instances, maxMb: 0, hostMb: 64_000 })
  assert.throws(() => small.mbFor({ memory: '8GiB' }, screen), /at most 0 MB on this server/)
  assert.equal(small.mbFor({}, screen), 4096, 'without a request, as the settings say')
})

test('only headful sessions without GPU may ask', () => {
  const memory = new SessionMemory({ instances, maxMb: 16_384, hostMb: 64_000 })
  for (const body of [{ headless: true }, { gpu: true }, { headless: true, stealth: true }]) {
    assert.throws(() => memory.mbFor({ ...body, memory: '8GiB' }, screen), /only for headful sessions/)
  }
})
