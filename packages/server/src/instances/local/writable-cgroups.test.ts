import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOnlyCgroups } from './writable-cgroups.ts'

test('control groups that are mounted read-only are found, and nothing else', () => {
  const mountinfo = [
    '700 690 0:31 /docker/1 /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate',
    '701 690 0:32 /docker/1 /sys/fs/cgroup/pids ro,nosuid master:9 - cgroup cgroup rw,pids',
    '702 690 0:33 / /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw,cpu',
    '703 690 0:34 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755',
    '704 690 0:35 / /proc/sys ro,nosuid - proc proc rw',
    '',
  ].join('\n')
  assert.deepEqual(readOnlyCgroups(mountinfo), ['/sys/fs/cgroup', '/sys/fs/cgroup/pids'])
})
