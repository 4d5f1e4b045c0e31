import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { locateCgroups } from './cgroup-location.ts'

function locate(t: TestContext, cgroup: string[], mountinfo: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'berth-cgroup-location-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'cgroup'), cgroup.join('\n'))
  writeFileSync(join(directory, 'mountinfo'), mountinfo.join('\n'))
  return locateCgroups(directory)
}

test('finds each v1 controller where it is mounted', (t) => {
  const { v1, v2 } = locate(
    t,
    ['8:pids:/', '6:freezer:/', '4:memory:/group/a:b', '1:cpu,cpuacct:/x', '0::/'],
    [
      '34 33 0:31 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct',
      '37 33 0:34 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
      '39 33 0:36 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer',
      '41 33 0:38 / /mnt/a\\040b rw - cgroup cgroup rw,pids',
      '43 33 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
    ],
  )
  assert.deepEqual(Object.fromEntries(v1), {
    pids: '/mnt/a b',
    freezer: '/sys/fs/cgroup/freezer',
    memory: '/sys/fs/cgroup/memory/group/a:b',
    cpu: '/sys/fs/cgroup/cpu,cpuacct/x',
  })
  assert.equal(v2, '/sys/fs/cgroup/unified')
})

test('finds v2 below its mount', (t) => {
  const mount = '26 24 0:25 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate'
  const { v1, v2 } = locate(t, ['0::/system.slice/berth.service'], [mount])
  assert.equal(v1.size, 0)
  assert.equal(v2, '/sys/fs/cgroup/system.slice/berth.service')
})

test('resolves paths relative to a mount that shows a part of the hierarchy', (t) => {
  const mount = '26 24 0:25 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory'
  assert.equal(locate(t, ['4:memory:/docker/abc/x'], [mount]).v1.get('memory'), '/sys/fs/cgroup/memory/x')
  assert.equal(locate(t, ['4:memory:/docker/abc'], [mount]).v1.get('memory'), '/sys/fs/cgroup/memory')
  assert.equal(locate(t, ['4:memory:/elsewhere'], [mount]).v1.get('memory'), '/sys/fs/cgroup/memory')
})

test('finds nothing on a host without control groups', (t) => {
  assert.deepEqual(locate(t, [], []), { v1: new Map(), v2: undefined })
})
