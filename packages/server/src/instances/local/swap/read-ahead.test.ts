import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadAhead } from './read-ahead.ts'
import { joinRegions } from './regions.ts'

const KB = 1024n
const region = (startKb: number, endKb: number) => ({ start: BigInt(startKb) * KB, end: BigInt(endKb) * KB })
const unlimited = { bytes: 1e9, regions: 100 }

test('regions that are close to each other are one, and the limits hold', () => {
  const found = [region(0, 8), region(40, 44), region(100, 104), region(200, 300)]
  assert.deepEqual(joinRegions(found, unlimited), [region(0, 44), region(100, 104), region(200, 300)])
  assert.deepEqual(joinRegions(found, { bytes: 1e9, regions: 1 }), [region(0, 44)])
  assert.deepEqual(joinRegions(found, { bytes: 48 * 1024, regions: 100 }), [region(0, 44), region(100, 104)])
  assert.deepEqual(joinRegions(found, { bytes: 0, regions: 100 }), [])
  assert.deepEqual(joinRegions([], unlimited), [])
})

test('finds the memory of a process, and asks for it back without harm', async (t) => {
  const readAhead = await ReadAhead.open()
  if (!readAhead) return t.skip('the kernel has no PAGEMAP_SCAN, which came with Linux 6.7')
  const kept = Buffer.alloc(8 * 2 ** 20, 7)
  const set = await readAhead.look([process.pid, 2 ** 30])
  assert.ok(set.bytes >= kept.length, `${set.bytes} bytes`)
  assert.deepEqual(
    set.parts.map(({ pid }) => pid),
    [process.pid],
    'a process that has ended has none',
  )
  await readAhead.bring(set, () => true)
  await readAhead.bring({ ...set, parts: [{ ...set.parts[0]!, pid: 2 ** 30 }] }, () => true)
  assert.ok(kept.every((byte) => byte === 7))
})
