// The set-up makes the system that instances see. Here it is a small one, in a directory of its own.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { SystemFiles } from '../../../packages/server/src/instances/local/system-files.ts'

interface Options {
  readonly checkout: string
  readonly packages: readonly string[]
  readonly npm: null
  readonly systems: string
  readonly say: (text: string) => void
}
// Plain JavaScript, because the set-up runs on any Node.
const { makeSystem } = (await import(new URL('system.mjs', import.meta.url).href)) as {
  makeSystem: (options: Options) => string
}

const isPossible = process.getuid!() === 0 && existsSync('/var/lib/dpkg/info/dash.list')
const skip = isPossible ? false : 'only root on Debian makes one'

function fixture(t: TestContext, parent = '/var/tmp') {
  const directory = mkdtempSync(join(parent, 'berth-system-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const checkout = join(directory, 'checkout')
  mkdirSync(checkout)
  const systems = join(directory, 'berth/system')
  const said: string[] = []
  const make = (...packages: string[]) =>
    makeSystem({ checkout, packages, npm: null, systems, say: (text) => void said.push(text) })
  return { checkout, systems, said, make }
}

/** Whether a file of the system can have another name there, which costs nothing. */
function canLink(directory: string): boolean {
  try {
    linkSync('/usr/bin/dash', join(directory, 'link'))
    return true
  } catch {
    return false
  }
}

test('it has the files of the packages and of what they depend on, and no others', { skip }, (t) => {
  const { checkout, systems, make, said } = fixture(t)
  const tree = make('dash', 'no-such-package')
  assert.equal(new SystemFiles(checkout, systems).path, tree)
  for (const path of ['usr/bin/dash', 'etc/ld.so.cache', 'etc/fonts'])
    assert.ok(existsSync(join(tree, path)), path)
  assert.ok(
    readdirSync(join(tree, 'usr/lib'), { recursive: true }).some((path) =>
      String(path).endsWith('/libc.so.6'),
    ),
  )
  for (const name of ['dpkg', 'su', 'perl', 'env']) assert.ok(!existsSync(join(tree, 'usr/bin', name)), name)
  if (canLink(systems)) assert.ok(statSync(join(tree, 'usr/bin/dash')).nlink > 1, 'it is a link')
  const before = lstatSync(tree)
  assert.equal(make('dash', 'no-such-package'), tree)
  assert.equal(lstatSync(tree).ino, before.ino, 'it is not made again')
  assert.equal(said.length, 1)
})

test('on another file system it is a copy', { skip }, (t) => {
  const elsewhere = '/dev/shm'
  if (!existsSync(elsewhere) || statSync(elsewhere).dev === statSync('/usr').dev)
    return t.skip('there is none here')
  const { make } = fixture(t, elsewhere)
  const copy = join(make('dash'), 'usr/bin/dash')
  assert.deepEqual(readFileSync(copy), readFileSync('/usr/bin/dash'))
  assert.equal(statSync(copy).mode & 0o777, 0o755)
})

test('an earlier one goes when it is neither wanted nor mounted', { skip }, async (t) => {
  const { systems, make } = fixture(t)
  const first = make('dash')
  const user = spawn(
    'unshare',
    ['--mount', 'sh', '-c', `mount --bind ${first}/usr /mnt && echo mounted; read word`],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  t.after(() => user.kill('SIGKILL'))
  await once(user.stdout, 'data')
  writeFileSync(join(systems, '.new-of-a-killed-set-up'), '')
  const second = make('dash', 'mawk')
  assert.notEqual(second, first)
  const longAgo = Date.now() / 1000 - 3600
  const makeLater = () => {
    utimesSync(`${first}.unused`, longAgo, longAgo)
    return make('dash', 'mawk')
  }
  assert.ok(existsSync(first), 'a server may just have read that it is to be used')
  makeLater()
  assert.ok(existsSync(join(first, 'usr/bin/dash')), 'it is mounted')
  user.stdin.end()
  await once(user, 'exit')
  makeLater()
  const name = (path: string) => path.slice(systems.length + 1)
  assert.deepEqual(
    readdirSync(systems).toSorted(),
    ['.lock', '.used-by', name(second), `${name(second)}.json`].toSorted(),
  )
})

test('the server says when the machine has other versions', { skip }, (t) => {
  const { checkout, systems, make } = fixture(t)
  const system = new SystemFiles(checkout, systems)
  assert.equal(system.path, '')
  make('dash', 'no-such-package')
  assert.equal(system.staleness(), undefined)
  const status = join(systems, 'status')
  const installed = readFileSync('/var/lib/dpkg/status', 'utf8')
  writeFileSync(status, installed.replace(/(^Package: dash\n[^]*?^Version: )\S+/m, '$19.9'))
  assert.match(system.staleness(status)!, /^Instances see dash \S+, not 9\.9, .*: run npm run setup/)
  const added = 'Package: no-such-package\nStatus: install ok installed\nVersion: 1.0\n\n'
  writeFileSync(status, added + installed)
  assert.match(system.staleness(status)!, /^Instances do not see no-such-package 1\.0, /)
})
