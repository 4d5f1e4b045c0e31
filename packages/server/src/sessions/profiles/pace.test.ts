import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WrongArchive } from './archive.ts'
import { checkPace } from './pace.ts'

test('an archive that does not go on arriving is reported once, with what to do', async () => {
  const slow = Promise.withResolvers<Error>()
  async function* source() {
    yield Buffer.alloc(100)
    await slow.promise
    yield Buffer.alloc(1)
  }
  const reports: Error[] = []
  const onSlow = (error: Error) => {
    reports.push(error)
    slow.resolve(error)
  }
  const pieces = await Array.fromAsync(checkPace(source(), { onSlow, graceMs: 20, minBytesPerSecond: 1024 }))
  assert.equal(Buffer.concat(pieces).length, 101)
  assert.equal(reports.length, 1)
  assert.ok(reports[0] instanceof WrongArchive)
  assert.match(reports[0].message, /1 KiB a second or more; send it from a faster network/)
})

async function* fast() {
  yield Buffer.alloc(1024 * 1024)
  await new Promise((resolve) => setTimeout(resolve, 60))
  yield Buffer.alloc(1)
}
const onSlow = () => assert.fail('reported')

test('one that arrives in time is not reported', async () => {
  await Array.fromAsync(checkPace(fast(), { onSlow, graceMs: 20, minBytesPerSecond: 1024 }))
})
