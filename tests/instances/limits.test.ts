// The limits of an instance, and that exceeding them does not affect the host.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { test } from 'node:test'
import {
  eventually,
  instanceGroups,
  instanceOptions,
  openDriver,
  processesOf,
  runInside,
  shellInside,
  skip,
  startInstance,
} from './fixture.ts'

const MiB = 1024 * 1024

test('a fork bomb stays within the limit and ends with the instance', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver, instanceOptions({ processes: 60 }))
  const explode = (bomb: string) =>
    runInside(
      instance,
      `require('child_process').spawn('sh', ['-c', ${JSON.stringify(bomb)}], { stdio: 'ignore', detached: true }).on('error', () => {})`,
    )
  const count = () => processesOf(instance.id).length
  for (const bomb of ['for i in $(seq 500); do sleep 1000 & done', 'f() { f | f & }; f']) {
    await explode(bomb)
    await eventually('there are many', () => count() > 20)
    assert.ok(count() <= 60, String(count()))
  }
  await instance.destroy()
  assert.deepEqual(instanceGroups(instance.id), [])
})

test('an instance that exceeds its memory limit ends as out of memory', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver, instanceOptions({ memoryBytes: 160 * MiB }))
  // Without a line end, tail cannot release anything.
  void shellInside(instance, 'head -c 2000M /dev/zero | tail').catch(() => {})
  assert.equal(await instance.ended, 'out-of-memory')
  assert.deepEqual(instanceGroups(instance.id), [])
})

test('memory files count as memory', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver, instanceOptions({ memoryBytes: 160 * MiB }))
  void shellInside(instance, 'head -c 400M /dev/zero > /dev/shm/fill').catch(() => {})
  assert.equal(await instance.ended, 'out-of-memory')
})

test('a full home is full for the instance and costs the host no disk', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver, instanceOptions({ homeBytes: 8 * MiB }))
  await runInside(instance, 'return 1')
  const before = statfsSync('/').bfree
  await assert.rejects(
    runInside(instance, `require('fs').writeFileSync('/home/kernel/fill', Buffer.alloc(16 * 1024 * 1024))`),
    /ENOSPC/,
  )
  const written = (before - statfsSync('/').bfree) * statfsSync('/').bsize
  assert.ok(written < 8 * MiB, String(written))
  await runInside(instance, `require('fs').rmSync('/home/kernel/fill')`)
  assert.equal(await runInside(instance, 'return 1'), 1)
})

test('an instance gets its share of the CPU and no more', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver, instanceOptions({ cpus: 0.3 }))
  await runInside(instance, 'return 1')
  const spent = await runInside<number>(
    instance,
    `const begin = process.cpuUsage().user, at = Date.now()
     while (Date.now() - at < 1000);
     return process.cpuUsage().user - begin`,
  )
  assert.ok(spent < 450_000, `${spent} of 300000 microseconds`)
})

test('a background instance yields to others until it is in the foreground', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver, { ...instanceOptions(), isBackground: true })
  const standing = () =>
    instanceGroups(instance.id).flatMap((group) =>
      ['cpu.idle', 'cpu.shares', 'cpu.weight'].flatMap((file) => {
        const path = `${group}/${file}`
        return existsSync(path) ? [[file, Number(readFileSync(path, 'utf8'))] as const] : []
      }),
    )
  const low = new Map(standing())
  await instance.setBackground(false)
  const normal = new Map(standing())
  if (low.has('cpu.idle')) assert.deepEqual([low.get('cpu.idle'), normal.get('cpu.idle')], [1, 0])
  const share = low.has('cpu.shares') ? 'cpu.shares' : 'cpu.weight'
  assert.ok(low.get(share)! * 10 < normal.get(share)!, `${low.get(share)} against ${normal.get(share)}`)
  await instance.setBackground(true)
  assert.deepEqual(new Map(standing()), low)
})
