import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMemoryShort, nextToSink, reservedForWakes, type Sleeper } from './deep-standby-rules.ts'

const MB = 2 ** 20
const GB = 1024 * MB
const swap = { freeBytes: 10 * GB, totalBytes: 10 * GB }

function sleeper(id: string, more: Partial<Sleeper> = {}): Sleeper {
  return {
    id,
    projectId: 'project',
    depth: 'light',
    asleepMs: 0,
    residentBytes: 300 * MB,
    swappedBytes: 0,
    isUnfit: false,
    isPooled: false,
    ...more,
  }
}
const deep = (id: string, swappedMb: number, more: Partial<Sleeper> = {}) =>
  sleeper(id, { depth: 'deep', residentBytes: 20 * MB, swappedBytes: swappedMb * MB, ...more })

const next = (sleepers: Sleeper[], more = {}) =>
  nextToSink({ sleepers, afterMs: 60_000, isShort: false, swap, projects: 1, ...more })?.id

test('a session goes into deep standby after its time, the one that sleeps longest first', () => {
  const sleepers = [sleeper('a', { asleepMs: 59_999 }), sleeper('b', { asleepMs: 60_000 })]
  assert.equal(next(sleepers), 'b')
  assert.equal(next([...sleepers, sleeper('c', { asleepMs: 90_000 })]), 'c')
  assert.equal(next([sleepers[0]!]), undefined)
  assert.equal(next([deep('d', 300, { asleepMs: 90_000 })]), undefined, 'it is there already')
})

test('when memory is short, nobody waits for the time', () => {
  const sleepers = [sleeper('a', { asleepMs: 1_000 }), sleeper('b', { asleepMs: 2_000 })]
  assert.equal(next(sleepers, { isShort: true }), 'b')
  assert.equal(next(sleepers, { isShort: true, afterMs: Infinity }), 'b')
  assert.equal(next([sleeper('a', { isUnfit: true, asleepMs: 90_000 })], { isShort: true }), undefined)
})

test('a browser that waits in its pool keeps its memory, unless memory is short', () => {
  const pooled = sleeper('a', { isPooled: true, asleepMs: 1e9 })
  assert.equal(next([pooled]), undefined)
  assert.equal(next([pooled], { isShort: true }), 'a')
})

test('what does not fit into swap even uncompressed stays where it is, and a smaller one goes', () => {
  const sleepers = [
    sleeper('large', { asleepMs: 90_000, residentBytes: 900 * MB }),
    sleeper('small', { asleepMs: 70_000 }),
  ]
  assert.equal(next(sleepers, { swap: { freeBytes: 500 * MB, totalBytes: 10 * GB } }), 'small')
  assert.equal(next(sleepers, { swap: { freeBytes: 200 * MB, totalBytes: 10 * GB } }), undefined)
})

test('one project fills at most half of the swap while another has sessions', () => {
  const own = [deep('a', 3000), deep('b', 3000), sleeper('c', { asleepMs: 90_000 })]
  // 6000 MB of theirs were compressed to 5000.
  const half = { freeBytes: 5 * GB, totalBytes: 10 * GB }
  assert.equal(next(own, { swap: half }), 'c', 'nobody else needs it')
  assert.equal(next(own, { swap: half, projects: 2 }), undefined)
  const other = sleeper('other', { projectId: 'other', asleepMs: 61_000 })
  assert.equal(next([...own, other], { swap: half, projects: 2 }), 'other')
})

test('new sessions leave room for some that wake, at least for the largest', () => {
  const host = 24 * GB
  assert.equal(reservedForWakes([], host), 0)
  assert.equal(reservedForWakes([deep('a', 300), deep('b', 200)], host), 500 * MB, 'for both')
  const hundred = Array.from({ length: 100 }, (_, index) => deep(`${index}`, 300))
  assert.equal(reservedForWakes(hundred, host), 0.1 * host)
  assert.equal(reservedForWakes([...hundred, deep('large', 4096)], host), 4 * GB)
})

const isShort = (freeMb: number, reservedMb = 0) =>
  isMemoryShort({ freeBytes: freeMb * MB, reservedBytes: reservedMb * MB, hostBytes: 8 * GB })

test('memory is short before new sessions would be refused', () => {
  assert.equal(isShort(1100), false)
  assert.equal(isShort(1000), true)
  assert.equal(isShort(1500, 600), true)
})
