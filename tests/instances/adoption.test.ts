// Instances survive their server: the next server adopts them, and without one they end.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newId } from '@berth/kit/ids'
import { formerInstancesDirOf, instancesDirOf } from '@berth/server/instances/local/instances-place'
import { instanceDirs } from '../fixtures/host.ts'
import {
  eventually,
  instanceGroups,
  instanceOptions,
  makeDataDir,
  openDriver,
  processesOf,
  runInside,
  skip,
  startInstance,
} from './fixture.ts'

const program = fileURLToPath(new URL('driver-process.ts', import.meta.url))

interface Killed {
  readonly dataDir: string
  readonly leaseSeconds: number
  readonly ids: string[]
  /** How long after the first start the server is killed; by default when all run. */
  readonly afterMs?: number
}

/** Runs instances in a server that is then killed. */
async function leaveBehind(t: TestContext, { dataDir, leaseSeconds, ids, afterMs }: Killed): Promise<void> {
  const child = spawn(process.execPath, [program, dataDir, String(leaseSeconds), ...ids], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const wanted = afterMs === undefined ? 'ready' : 'open'
  for await (const chunk of child.stdout) if (String(chunk).includes(wanted)) break
  if (afterMs !== undefined) await delay(afterMs)
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

const wardensOf = (dataDir: string) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0${instancesDirOf(dataDir)}\0`)
      } catch {
        return false
      }
    })

test('a killed server’s instances are adopted unchanged, and frozen ones are thawed', { skip }, async (t) => {
  const dataDir = makeDataDir(t)
  const ids = [newId(), `${newId()}-frozen`]
  await leaveBehind(t, { dataDir, leaseSeconds: 30, ids })
  const driver = await openDriver(t, { dataDir, leaseSeconds: 30 })
  const adopted = await driver.adopt()
  assert.deepEqual(adopted.map(({ id }) => id).toSorted(), ids.toSorted())
  for (const instance of adopted) {
    assert.equal(instance.isFrozen, false)
    assert.equal(await runInside(instance, 'return globalThis.memory'), 'kept')
  }
  const fresh = await startInstance(t, driver)
  await runInside(fresh, 'return 1')
  const uids = [fresh, ...adopted].map(({ id }) => processesOf(id)[0]!.uid)
  assert.equal(new Set(uids).size, 3)
  // The new server has its own warden, and the old one ends when it sees that.
  await eventually('one warden is left', () => wardensOf(dataDir).length === 1)
  for (const instance of adopted) {
    await instance.destroy()
    assert.equal(await instance.ended, 'destroyed')
    assert.deepEqual(instanceGroups(instance.id), [])
  }
})

test('the end of an adopted instance is noticed', { skip }, async (t) => {
  const dataDir = makeDataDir(t)
  const id = newId()
  await leaveBehind(t, { dataDir, leaseSeconds: 30, ids: [id] })
  const driver = await openDriver(t, { dataDir, leaseSeconds: 30 })
  const [instance] = await driver.adopt()
  await runInside(instance!, 'setTimeout(() => process.exit(), 10)')
  assert.equal(await instance!.ended, 'ended-by-itself')
  assert.ok(!existsSync(join(instancesDirOf(dataDir), id)))
  assert.deepEqual(instanceGroups(id), [])
})

test('without another server everything is gone after the lease', { skip }, async (t) => {
  const dataDir = makeDataDir(t)
  const ids = [newId(), `${newId()}-frozen`]
  // Long enough that the first is still there when the second has started, on a busy machine too.
  await leaveBehind(t, { dataDir, leaseSeconds: 5, ids })
  for (const id of ids) assert.ok(processesOf(id).length > 0)
  await eventually('the warden is gone', () => wardensOf(dataDir).length === 0)
  for (const id of ids) {
    assert.deepEqual(instanceGroups(id), [])
    assert.ok(!existsSync(join(instancesDirOf(dataDir), id)))
  }
  assert.deepEqual(instanceDirs(dataDir), [])
})

test('remains of dead instances are removed, whatever their state', { skip }, async (t) => {
  const dataDir = makeDataDir(t)
  const instances = instancesDirOf(dataDir)
  const [empty, broken, dead] = [newId(), newId(), newId()]
  for (const id of [empty, broken, dead]) mkdirSync(join(instances, id), { recursive: true })
  writeFileSync(join(instances, broken, 'instance.json'), '{"id":')
  writeFileSync(join(instances, dead, 'instance.json'), JSON.stringify({ id: dead, uid: 200_001 }))
  const ofAnEarlierVersion = join(formerInstancesDirOf(dataDir), newId())
  mkdirSync(ofAnEarlierVersion, { recursive: true })
  const driver = await openDriver(t, { dataDir })
  assert.deepEqual(await driver.adopt(), [])
  for (const id of [empty, broken, dead]) assert.ok(!existsSync(join(instances, id)))
  assert.ok(!existsSync(ofAnEarlierVersion))
})

test('closing the driver leaves its instances to the next server', { skip }, async (t) => {
  const dataDir = makeDataDir(t)
  const first = await openDriver(t, { dataDir })
  const { id } = await first.start(instanceOptions())
  await first.close()
  const second = await openDriver(t, { dataDir })
  const [instance] = await second.adopt()
  assert.equal(instance!.id, id)
  assert.equal(await runInside(instance!, 'return 1'), 1)
  await instance!.destroy()
})

test('a server killed at any moment of a start leaves a complete instance or none', { skip }, async (t) => {
  for (const afterMs of [0, 2, 4, 8, 12, 16, 24, 60]) {
    const dataDir = makeDataDir(t)
    const id = newId()
    await leaveBehind(t, { dataDir, leaseSeconds: 30, ids: [id], afterMs })
    const driver = await openDriver(t, { dataDir, leaseSeconds: 30 })
    for (const instance of await driver.adopt()) {
      assert.equal(instance.id, id)
      assert.equal(await runInside(instance, 'return 1'), 1)
      await instance.destroy()
    }
    assert.deepEqual(instanceGroups(id), [])
    assert.ok(!existsSync(join(instancesDirOf(dataDir), id)))
    await driver.close()
    await eventually('all wardens are gone', () => wardensOf(dataDir).length === 0)
  }
})
