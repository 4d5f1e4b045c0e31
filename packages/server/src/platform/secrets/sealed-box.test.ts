import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { AppError } from '../errors/app-error.ts'
import { Keyring } from './keyring.ts'
import { SealedBox } from './sealed-box.ts'

function dataDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'berth-test-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

const refusesToOpen = (box: SealedBox, sealed: Buffer, context: string) =>
  assert.throws(
    () => box.open(sealed, context),
    (error) => error instanceof AppError && error.code === 'invalid_state',
  )

test('a sealed text opens in its row and nowhere else', async (t) => {
  const box = new SealedBox(await Keyring.open({ dataDir: dataDir(t), fromSetting: [] }))
  const sealed = box.seal('hunter2 ✓', 'table/column/row-1')
  assert.equal(box.open(sealed, 'table/column/row-1'), 'hunter2 ✓')
  refusesToOpen(box, sealed, 'table/column/row-2')
  assert.ok(!sealed.includes('hunter2'))
  assert.notDeepEqual(box.seal('same', 'c'), box.seal('same', 'c'))
})

test('a sealed text with any bit flipped, or cut anywhere, does not open', async (t) => {
  const box = new SealedBox(await Keyring.open({ dataDir: dataDir(t), fromSetting: [] }))
  const sealed = box.seal('text', 'c')
  for (let index = 0; index < sealed.length; index++) {
    const flipped = Buffer.from(sealed)
    flipped[index]! ^= 1
    refusesToOpen(box, flipped, 'c')
    refusesToOpen(box, sealed.subarray(0, index), 'c')
  }
})

test('the master key file is private and the same after a restart', async (t) => {
  const dir = dataDir(t)
  const first = await Keyring.open({ dataDir: dir, fromSetting: [] })
  const second = await Keyring.open({ dataDir: dir, fromSetting: [] })
  assert.equal(first.current.kid, second.current.kid)
  assert.equal(statSync(join(dir, 'master-keys')).mode & 0o777, 0o600)
})

test('after a rotation old records open, new ones use the new key, and a reader in another process sees it', async (t) => {
  const dir = dataDir(t)
  const ring = await Keyring.open({ dataDir: dir, fromSetting: [] })
  const reader = new SealedBox(await Keyring.open({ dataDir: dir, fromSetting: [] }))
  const box = new SealedBox(ring)
  const old = box.seal('old', 'c')
  const oldKid = ring.current.kid
  await ring.add()
  assert.notEqual(ring.current.kid, oldKid)
  assert.equal(box.open(old, 'c'), 'old')
  const fresh = box.seal('new', 'c')
  assert.equal(fresh.subarray(1, 9).toString('hex'), ring.current.kid)
  assert.equal(
    reader.open(fresh, 'c'),
    'new',
    'a reader in another process reloads the keyring and finds the new key',
  )
  const moved = box.rewrap(old)
  await ring.keepOnly(ring.current.kid)
  assert.equal(box.open(moved, 'c'), 'old')
  refusesToOpen(box, old, 'c')
  assert.equal(readFileSync(join(dir, 'master-keys'), 'utf8').trim().split('\n').length, 1)
})
