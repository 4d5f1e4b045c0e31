// Uses a directory in place of the kernel's, and checks which values are written to which files.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { CgroupsV2 } from './cgroup-v2.ts'

const limits = { memoryBytes: 1_000_000, processes: 50, cpus: 1.5, homeBytes: 1 }
const controllers = 'cpu io memory pids\n'

function standIn(t: TestContext, files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'berth-cgroup-v2-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

const parents = ['.', 'berth', 'berth/hash'].flatMap((group) => [
  [`${group}/cgroup.controllers`, controllers],
  [`${group}/cgroup.subtree_control`, controllers],
])
const names = ['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max', 'cpu.max', 'cpu.weight']
const group = names.map((name) => [`berth/hash/one/${name}`, ''])
const everything = Object.fromEntries([...parents, ...group, ['berth/hash/cgroup.freeze', '0']]) as Record<
  string,
  string
>

test('writes limits to the v2 files', async (t) => {
  const root = standIn(t, everything)
  const groups = CgroupsV2.open(root, 'berth/hash')!
  assert.deepEqual(groups.missing, [])
  assert.equal(groups.canFreeze, true)
  const one = await groups.create('one', limits)
  one.setBackground(true)
  const written = Object.fromEntries(
    names.map((name) => [name, readFileSync(join(root, 'berth/hash/one', name), 'utf8')]),
  )
  assert.deepEqual(written, {
    'memory.max': '1000000',
    'memory.swap.max': '0',
    'memory.oom.group': '1',
    'pids.max': '50',
    'cpu.max': '150000 100000',
    'cpu.weight': '6',
  })
  assert.deepEqual(one.entrances, [join(root, 'berth/hash/one/cgroup.procs')])
  assert.deepEqual(groups.list(), ['one'])
})

test('reads what the group reports about itself', async (t) => {
  const root = standIn(t, {
    ...everything,
    'berth/hash/one/memory.events': 'low 0\noom 2\noom_kill 1\noom_group_kill 1\n',
    'berth/hash/one/cgroup.procs': '12\n13\n',
  })
  const one = CgroupsV2.open(root, 'berth/hash')!.find('one')
  assert.equal(one.oomKills(), 1)
  assert.equal(one.isEmpty(), false)
  assert.equal(CgroupsV2.open(root, 'berth/hash')!.find('none').isEmpty(), true)
})

test('freezing waits for the event and stops when the signal fires', async (t) => {
  const root = standIn(t, {
    ...everything,
    'berth/hash/one/cgroup.freeze': '0',
    'berth/hash/one/cgroup.events': 'populated 1\nfrozen 0\n',
  })
  const one = CgroupsV2.open(root, 'berth/hash')!.find('one')
  const frozen = one.freeze(new AbortController().signal)
  assert.equal(readFileSync(join(root, 'berth/hash/one/cgroup.freeze'), 'utf8'), '1')
  writeFileSync(join(root, 'berth/hash/one/cgroup.events'), 'populated 1\nfrozen 1\n')
  await frozen
  one.thaw()
  assert.equal(readFileSync(join(root, 'berth/hash/one/cgroup.freeze'), 'utf8'), '0')
  await assert.rejects(one.freeze(AbortSignal.abort(new Error('enough'))), /enough/)
})

test('reports unavailable controllers as missing, and finds the base of a server in the leaf', (t) => {
  const root = standIn(t, { 'cgroup.controllers': 'cpu\n', 'cgroup.subtree_control': '' })
  const groups = CgroupsV2.open(join(root, 'berth-server'), 'berth/hash')!
  assert.deepEqual(groups.parents, [join(root, 'berth/hash')])
  assert.deepEqual(groups.missing, ['memory', 'pids', 'cpu'])
  assert.equal(groups.canFreeze, false)
})

const movable = {
  ...everything,
  'berth/hash/memory.swap.max': 'max',
  'berth/hash/memory.reclaim': '',
}

test('memory goes to swap only while it is being moved there', async (t) => {
  const root = standIn(t, movable)
  const one = await CgroupsV2.open(root, 'berth/hash')!.create('one', limits)
  const swapMax = () => readFileSync(join(root, 'berth/hash/one/memory.swap.max'), 'utf8')
  assert.equal(swapMax(), '0')
  writeFileSync(join(root, 'berth/hash/one/memory.swap.max'), '')
  one.setSwapping(true)
  assert.equal(swapMax(), 'max')
  one.setLimits(limits)
  assert.equal(swapMax(), 'max', 'other limits leave it alone')
  writeFileSync(join(root, 'berth/hash/one/memory.swap.max'), '')
  one.setSwapping(false)
  assert.equal(swapMax(), '0')
  assert.equal(one.pageOut.path, join(root, 'berth/hash/one/memory.reclaim'))
  assert.match(one.pageOut.value, /^16M( swappiness=200)?$/)
})

test('says what the kernel lacks to move memory', (t) => {
  const why = (files: Record<string, string>) => CgroupsV2.open(standIn(t, files), 'berth/hash')!.whyNoPageOut
  assert.equal(why(movable), undefined)
  assert.match(why(everything)!, /swapaccount/)
  assert.match(why({ ...everything, 'berth/hash/memory.swap.max': 'max' })!, /older than Linux 5\.19/)
  const root = standIn(t, { 'cgroup.controllers': 'cpu\n', 'cgroup.subtree_control': '' })
  assert.match(CgroupsV2.open(root, 'berth/hash')!.whyNoPageOut!, /cannot write the control groups/)
})

test('memory and swap together are held to the limit, where a page in both counts once and files do not count', (t) => {
  const MB = 2 ** 20
  const use = (memory: Record<string, number>, swappedMb: number, max = String(1000 * MB)) => {
    const stat = Object.entries(memory).map(([key, mb]) => `${key} ${mb * MB}\n`)
    const root = standIn(t, {
      ...movable,
      'berth/hash/one/memory.stat': stat.join(''),
      'berth/hash/one/memory.current': String(700 * MB),
      'berth/hash/one/memory.max': max,
      'berth/hash/one/memory.swap.current': String(swappedMb * MB),
    })
    return CgroupsV2.open(root, 'berth/hash')!.find('one')
  }
  assert.deepEqual(use({}, 300).memoryUse(), { residentBytes: 700 * MB, swappedBytes: 300 * MB })
  assert.equal(use({ anon: 600, shmem: 90, kernel: 10, file: 800, swapcached: 0 }, 300).isOverLimit(), false)
  assert.equal(use({ anon: 600, shmem: 90, kernel: 11, file: 0, swapcached: 0 }, 300).isOverLimit(), true)
  assert.equal(use({ anon: 700, shmem: 90, kernel: 10, file: 0, swapcached: 100 }, 300).isOverLimit(), false)
  assert.equal(use({ anon: 1000, shmem: 0, kernel: 10 }, 0).isOverLimit(), false, 'that is up to the kernel')
  assert.equal(use({ anon: 9000 }, 300, 'max\n').isOverLimit(), false, 'no limit')
})
