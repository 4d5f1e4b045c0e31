// Instances from start to end: freezing, every reason to end, and nothing left behind.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { instancesDirOf } from '@berth/server/instances/local/instances-place'
import { instanceDirs } from '../fixtures/host.ts'
import {
  eventually,
  instanceGroups,
  instanceOptions,
  makeDataDir,
  openDriver,
  processesOf,
  runInside,
  shellInside,
  skip,
  startInstance,
} from './fixture.ts'

const soon = () => AbortSignal.timeout(10_000)

const count = () => ({
  descriptors: readdirSync('/proc/self/fd').length,
  mounts: readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length,
})

function ticksOf(id: string): number {
  return processesOf(id)
    .map(({ pid }) =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' '),
    )
    .reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0)
}

test(
  'a frozen instance uses no CPU time, and continues with its connections when thawed',
  { skip },
  async (t) => {
    const driver = await openDriver(t)
    const instance = await startInstance(t, driver)
    const echo = await instance.connect('cdp', soon())
    echo.write('before')
    assert.equal(String((await once(echo, 'data'))[0]), 'before')
    await shellInside(instance, '(while :; do :; done) > /dev/null 2>&1 &')
    await instance.freeze()
    await instance.freeze()
    assert.equal(instance.isFrozen, true)
    const begin = ticksOf(instance.id)
    echo.write('while frozen')
    await delay(500)
    assert.equal(ticksOf(instance.id), begin)
    const answer = once(echo, 'data')
    await instance.thaw()
    await instance.thaw()
    assert.equal(instance.isFrozen, false)
    assert.equal(String((await answer)[0]), 'while frozen')
    await eventually('it works on', () => ticksOf(instance.id) > begin)
  },
)

test('freezes and thaws in any order end in the last requested state', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver)
  await runInside(instance, 'return 1')
  await Promise.all([instance.freeze(), instance.thaw(), instance.freeze(), instance.thaw()])
  assert.equal(await runInside(instance, 'return 1'), 1)
})

test('a frozen instance can be destroyed, also by parallel calls', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver)
  await runInside(instance, 'return 1')
  await instance.freeze()
  await Promise.all([instance.destroy(), instance.destroy(), instance.destroy()])
  await instance.destroy()
  assert.equal(await instance.ended, 'destroyed')
  assert.deepEqual(instanceGroups(instance.id), [])
  await assert.rejects(instance.connect('api', soon()), /Cannot connect to instance/)
  await assert.rejects(instance.freeze(), /it has ended/)
})

test('an instance can be destroyed at any moment of its start', { skip }, async (t) => {
  const dataDir = makeDataDir(t)
  const driver = await openDriver(t, { dataDir })
  for (const waitMs of [0, 1, 2, 4, 8, 16, 32, 64]) {
    const instance = await driver.start(instanceOptions())
    await delay(waitMs)
    await instance.destroy()
    assert.deepEqual(instanceGroups(instance.id), [])
    assert.ok(!existsSync(join(instancesDirOf(dataDir), instance.id)))
  }
})

test('processes that ignore signals and leave their session end with the instance', { skip }, async (t) => {
  const driver = await openDriver(t)
  const instance = await startInstance(t, driver)
  await shellInside(
    instance,
    `setsid sh -c 'trap "" TERM HUP INT; (trap "" TERM; sleep 1000) & sleep 1000' >/dev/null 2>&1 &`,
  )
  await runInside(instance, 'setTimeout(() => process.exit(1), 10)')
  assert.equal(await instance.ended, 'ended-by-itself')
  assert.deepEqual(instanceGroups(instance.id), [])
})

test(
  'a frozen instance answers connections when it is thawed, and closes them when it ends',
  { skip },
  async (t) => {
    const driver = await openDriver(t)
    const instance = await startInstance(t, driver)
    await runInside(instance, 'return 1')
    await instance.freeze()
    const late = await instance.connect('cdp', soon())
    late.write('hello')
    await instance.thaw()
    assert.equal(String((await once(late, 'data'))[0]), 'hello')
    await assert.rejects(instance.connect('api', AbortSignal.abort(new Error('enough'))), /enough/)
    await instance.freeze()
    const never = await instance.connect('cdp', soon())
    const closed = new Promise((resolve) =>
      never
        .on('error', () => {})
        .resume()
        .once('close', resolve),
    )
    await instance.destroy()
    await closed
    await assert.rejects(instance.connect('api', soon()), /Cannot connect to instance/)
  },
)

test('a second server on the same data directory is refused', { skip, timeout: 60_000 }, async (t) => {
  const dataDir = makeDataDir(t)
  await openDriver(t, { dataDir })
  await assert.rejects(openDriver(t, { dataDir }), /another Berth server/)
})

test('twenty starts and destroys leave nothing behind', { skip }, async (t) => {
  const dataDir = makeDataDir(t)
  const driver = await openDriver(t, { dataDir })
  const startAndDestroy = async () => {
    const instance = await driver.start(instanceOptions())
    await runInside(instance, 'return 1')
    await instance.destroy()
    return instance.id
  }
  await startAndDestroy()
  const before = count()
  const ids = await Promise.all(Array.from({ length: 4 }, startAndDestroy))
  for (let index = 0; index < 16; index++) ids.push(await startAndDestroy())
  // Fewer than before is right, too: the runtime may have closed one of its own since the first instance.
  await eventually('descriptors are back', () => count().descriptors <= before.descriptors)
  assert.equal(count().mounts, before.mounts)
  for (const id of ids) assert.deepEqual(instanceGroups(id), [])
  assert.deepEqual(instanceDirs(dataDir), [])
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  assert.equal(children.length, 1, 'only the warden is left')
  await driver.close()
  assert.equal(readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim(), '')
})
