import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { SystemNames } from './system-names.ts'

function namesWith(t: TestContext, { hosts = '', resolv = '' }): SystemNames {
  const directory = mkdtempSync(join(tmpdir(), 'names-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const [hostsFile, resolvFile] = [join(directory, 'hosts'), join(directory, 'resolv.conf')]
  writeFileSync(hostsFile, hosts)
  writeFileSync(resolvFile, resolv)
  return new SystemNames({ hostsFile, resolvFile })
}

test('the hosts file gives all addresses of a name, in any case and with comments', (t) => {
  const names = namesWith(t, {
    hosts: '# local\n10.0.0.1\tDB.Example db # main\n\nfd00::1 db.example.\nnonsense other\n',
  })
  assert.deepEqual(names.inHostsFile('db.example'), ['10.0.0.1', 'fd00::1'])
  assert.deepEqual(names.inHostsFile('db'), ['10.0.0.1'])
  assert.equal(names.inHostsFile('other'), undefined)
})

test('names are searched in the order of resolv.conf', (t) => {
  const names = namesWith(t, {
    resolv: 'domain old.example\nsearch a.example B.example. ; comment\noptions timeout:1 ndots:2\n',
  })
  assert.deepEqual(names.candidatesFor('x'), ['x.a.example', 'x.b.example', 'x'])
  assert.deepEqual(names.candidatesFor('x.y'), ['x.y.a.example', 'x.y.b.example', 'x.y'])
  assert.deepEqual(names.candidatesFor('x.y.z'), ['x.y.z', 'x.y.z.a.example', 'x.y.z.b.example'])
  const long = `${'x'.repeat(61)}.`.repeat(4).slice(0, -1)
  assert.deepEqual(names.candidatesFor(long), [long])
})

test('a search list has at most six domains', (t) => {
  const names = namesWith(t, { resolv: `search ${'abcdefgh'.split('').join(' ')}` })
  assert.deepEqual(names.candidatesFor('x.y'), ['x.y', 'x.y.a', 'x.y.b', 'x.y.c', 'x.y.d', 'x.y.e', 'x.y.f'])
})

test('files that do not exist say nothing', () => {
  const names = new SystemNames({ hostsFile: '/nowhere/hosts', resolvFile: '/nowhere/resolv.conf' })
  assert.equal(names.inHostsFile('a'), undefined)
  assert.equal(names.candidatesFor('a.b')[0], 'a.b')
})
