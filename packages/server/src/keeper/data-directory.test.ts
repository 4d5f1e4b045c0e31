import assert from 'node:assert/strict'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { giveDataDirectory, giveDirectory } from './data-directory.ts'

const account = { uid: 12_345, gid: 12_346 }
const skip = process.getuid!() === 0 ? false : 'needs root'

function temporary(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'berth-given-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const ownerOf = (path: string) => {
  const { uid, gid } = lstatSync(path)
  return { uid, gid }
}
const root = { uid: 0, gid: 0 }

test(
  'a data directory is given once, without the instances and without links to other files',
  { skip },
  (t) => {
    const outside = join(temporary(t), 'outside')
    writeFileSync(outside, 'of root')
    const path = join(temporary(t), 'data')
    mkdirSync(join(path, 'blobs/ab'), { recursive: true })
    mkdirSync(join(path, 'instances/x'), { recursive: true })
    writeFileSync(join(path, 'blobs/ab/one'), '')
    symlinkSync(outside, join(path, 'symlink'))
    linkSync(outside, join(path, 'hard-link'))

    assert.equal(giveDataDirectory(path, account), path)
    for (const name of ['blobs', 'blobs/ab', 'blobs/ab/one', 'symlink'])
      assert.deepEqual(ownerOf(join(path, name)), account, name)
    for (const name of ['hard-link', 'instances', 'instances/x'])
      assert.deepEqual(ownerOf(join(path, name)), root, name)
    assert.deepEqual(ownerOf(outside), root)
    assert.deepEqual(ownerOf(path), { uid: 0, gid: account.gid })
    assert.equal(lstatSync(path).mode & 0o7777, 0o1771)

    writeFileSync(join(path, 'later'), '')
    giveDataDirectory(path, account)
    assert.deepEqual(ownerOf(join(path, 'later')), root, 'not again')
  },
)

test(
  'a data directory that others could not pass stays so, and a new one lets instances pass',
  { skip },
  (t) => {
    const closed = join(temporary(t), 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o700)
    giveDataDirectory(closed, account)
    assert.equal(lstatSync(closed).mode & 0o7777, 0o1770)
    const made = join(temporary(t), 'new/data')
    giveDataDirectory(made, account)
    assert.equal(lstatSync(made).mode & 0o7777, 0o1771)
    assert.deepEqual(ownerOf(join(made, 'instances')), root)
  },
)

test('instances that are not a directory of root are refused', { skip }, (t) => {
  const path = temporary(t)
  giveDataDirectory(path, account)
  rmSync(join(path, 'instances'), { recursive: true })
  symlinkSync('/etc', join(path, 'instances'))
  assert.throws(() => giveDataDirectory(path, account), /must be a directory of root/)
})

test('a directory for files is made for the account, and one that exists stays as it is', { skip }, (t) => {
  const path = join(temporary(t), 'deep/files')
  assert.equal(giveDirectory(path, account), path)
  assert.deepEqual(ownerOf(path), account)
  const shared = join(temporary(t), 'shared')
  mkdirSync(shared)
  assert.equal(giveDirectory(shared, account), shared)
  assert.deepEqual(ownerOf(shared), root)
})
