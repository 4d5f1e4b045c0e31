// Uses directories in place of the kernel's, and checks which values are written to which files.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { V1Controller } from './cgroup-location.ts'
import { CgroupsV1 } from './cgroup-v1.ts'

const limits = { memoryBytes: 1_000_000, processes: 50, cpus: 1.5, homeBytes: 1 }
const memoryFiles = {
  'memory.limit_in_bytes': '',
  'memory.memsw.limit_in_bytes': '',
  'memory.memsw.usage_in_bytes': '900',
  'memory.usage_in_bytes': '300',
  'memory.force_empty': '',
  'memory.swappiness': '60',
  'memory.stat': 'cache 1\nrss 2\nswap 600\n',
}

function standIn(t: TestContext, memory: Record<string, string> = memoryFiles) {
  const root = mkdtempSync(join(tmpdir(), 'berth-cgroup-v1-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const put = (path: string, content: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  for (const group of ['berth', 'berth/one']) {
    for (const [name, content] of Object.entries(memory)) put(`memory/${group}/${name}`, content)
    put(`freezer/${group}/freezer.state`, 'FROZEN')
  }
  const bases = new Map<V1Controller, string>(
    (['memory', 'freezer'] as const).map((controller) => [controller, join(root, controller)]),
  )
  return { root, groups: new CgroupsV1(bases, 'berth') }
}

test('memory goes to swap only while it is being moved there, and swap gives an instance no more than its limit', async (t) => {
  const { root, groups } = standIn(t)
  assert.equal(groups.whyNoPageOut, undefined)
  const one = await groups.create('one', limits)
  const written = (name: string) => readFileSync(join(root, 'memory/berth/one', name), 'utf8')
  assert.equal(written('memory.swappiness'), '00', 'the 0 is written over 60')
  assert.equal(written('memory.memsw.limit_in_bytes'), '1000000')
  assert.equal(written('memory.limit_in_bytes'), '1000000')
  one.setSwapping(true)
  assert.equal(written('memory.swappiness'), '200')
  assert.deepEqual(one.pageOut, { path: join(root, 'memory/berth/one/memory.force_empty'), value: '0' })
  assert.deepEqual(one.memoryUse(), { residentBytes: 300, swappedBytes: 600 })
  assert.equal(one.isFrozen(), true)
})

test('says what the kernel lacks to move memory', (t) => {
  const without = (...names: (keyof typeof memoryFiles)[]) => {
    const files: Record<string, string> = { ...memoryFiles }
    for (const name of names) delete files[name]
    return standIn(t, files).groups
  }
  assert.match(without('memory.memsw.limit_in_bytes').whyNoPageOut!, /swapaccount=1/)
  assert.match(without('memory.force_empty').whyNoPageOut!, /cannot move the memory/)
  const uncounted = without('memory.memsw.usage_in_bytes').find('one')
  assert.equal(uncounted.memoryUse(), undefined)
})
