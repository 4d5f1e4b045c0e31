import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { mayRead, viewFor, withView } from './reach.ts'

const account = { uid: 12_345, gid: 12_345 }
const skip = process.getuid!() === 0 ? false : 'needs root'

function closedDirectory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'berth-reach-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  for (const name of ['a/b', 'c', 'secret']) mkdirSync(join(path, name), { recursive: true })
  for (const name of ['a/b/file', 'c/file', 'secret/file']) writeFileSync(join(path, name), name)
  chmodSync(path, 0o700)
  return path
}

test('a path that the account reaches needs no view of its own', (t) => {
  const path = closedDirectory(t)
  chmodSync(path, 0o711)
  const view = viewFor([join(path, 'a')], account)
  assert.deepEqual(view, { covers: [], shown: [] })
  const programs = { unshare: 'unshare', sh: 'sh', mount: 'mount' }
  assert.deepEqual(withView(view, ['true', 'x y'], programs), ['true', 'x y'])
})

test('a path below a closed directory is shown at its place, without what is beside it', { skip }, (t) => {
  const path = closedDirectory(t)
  const view = viewFor([join(path, 'a/b'), join(path, 'c'), join(path, 'a')], account)
  assert.deepEqual(view, { covers: [path], shown: [join(path, 'c'), join(path, 'a')] })
  const programs = { unshare: '/usr/bin/unshare', sh: '/bin/sh', mount: '/usr/bin/mount' }
  const become = ['setpriv', '--reuid=12345', '--regid=12345', '--clear-groups']
  const script =
    'cat "$1/a/b/file" "$1/c/file"; [ -e "$1/secret" ] || echo; [ -e /mnt/0 ] || printf "%s" "$2"'
  const [program, ...args] = withView(view, [...become, 'sh', '-c', script, 'sh', path, 'it  is'], programs)
  assert.equal(execFileSync(program!, args, { encoding: 'utf8' }), 'a/b/filec/file\nit  is')
})

test('a path that is itself closed is replaced by one with its directories', (t) => {
  const path = closedDirectory(t)
  const shown = ['a', 'c', 'secret'].map((name) => join(path, name))
  assert.deepEqual(viewFor([path, join(path, 'a')], account), { covers: [path], shown })
})

test('a file is readable by its mode', { skip }, (t) => {
  const file = join(closedDirectory(t), 'c/file')
  for (const [mode, isReadable] of [
    [0o644, true],
    [0o640, false],
    [0o604, true],
  ] as const) {
    chmodSync(file, mode)
    assert.equal(mayRead(file, account), isReadable)
  }
})
