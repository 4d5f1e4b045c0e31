// The helper that freezes instances on the nodes of a cluster, with a real control group and a real process.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { NodeFreezer } from '@berth/server/instances/kubernetes/node-freezer'
import { PodFreezer } from '@berth/server/instances/kubernetes/pod-freezer'
import { ContainerFreezer } from '@berth/server/instances/pod/container-freezer'
import { FreezerHost } from '@berth/server/instances/pod/freezer-host'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { tempDir } from '../fixtures/server.ts'

const CGROUPS = '/sys/fs/cgroup'
const STILL_MS = 200
const key = Buffer.from('a-key-of-the-test-with-32-chars.')
const node = '127.0.0.1'

test('an instance stands still while it is frozen, and goes on', async (t) => {
  const port = await startHelper(t)
  const { container, ticks } = await startContainer(t, 'pod-instance.mjs')
  const freezer = new PodFreezer({
    freezer: new NodeFreezer({ key, port }),
    find: () => ({ node, container }),
    mayBeFrozen: false,
  })
  for (let round = 0; round < 2; round++) {
    await eventually('it runs', () => ticks() > 0)
    await freezer.freeze()
    await freezer.freeze()
    assert.equal(freezer.isFrozen, true)
    const before = ticks()
    await pause(STILL_MS)
    assert.equal(ticks(), before)
    await freezer.thaw()
    assert.equal(freezer.isFrozen, false)
    await eventually('it goes on', () => ticks() > before)
  }
})

test('what another server froze is thawed by the one that takes over', async (t) => {
  const helper = new NodeFreezer({ key, port: await startHelper(t) })
  const { container, ticks } = await startContainer(t, 'pod-instance.mjs')
  await helper.freeze({ node, container })
  const next = new PodFreezer({ freezer: helper, find: () => ({ node, container }), mayBeFrozen: true })
  const before = ticks()
  await next.thaw()
  await eventually('it goes on', () => ticks() > before)
})

test('the helper freezes nothing but instances, and for nobody but servers', async (t) => {
  const port = await startHelper(t)
  const helper = new NodeFreezer({ key, port })
  const other = await startContainer(t, 'database.mjs')
  await assert.rejects(helper.freeze({ node, container: other.container }), /it is not an instance/)
  await assert.rejects(helper.freeze({ node, container: '../../etc' }), /that is not the id of a container/)
  const unknown = randomBytes(32).toString('hex')
  await assert.rejects(helper.freeze({ node, container: unknown }), /there is no such container/)
  const stranger = new NodeFreezer({ key: randomBytes(32), port })
  const { container, ticks } = await startContainer(t, 'pod-instance.mjs')
  await assert.rejects(stranger.freeze({ node, container }), /Cannot freeze an instance: .*node 127\.0\.0\.1/)
  const before = ticks()
  await eventually('it runs', () => ticks() > before)
})

test('a node without a helper says so, and the instance counts as running', async () => {
  const freezer = new PodFreezer({
    freezer: new NodeFreezer({ key, port: 1 }),
    find: () => ({ node, container: randomBytes(32).toString('hex') }),
    mayBeFrozen: false,
  })
  await assert.rejects(freezer.freeze(), /Cannot freeze an instance: the freezer of node 127\.0\.0\.1/)
  assert.equal(freezer.isFrozen, false)
})

async function startHelper(t: TestContext): Promise<number> {
  const freezer = new ContainerFreezer({ cgroups: CGROUPS, processes: '/proc' })
  const helper = new FreezerHost({ freezer, key, host: node, port: 0 })
  cleanUpAfter(t, () => helper.close())
  return helper.listen()
}

/** A process in a control group as a kubelet makes them. */
async function startContainer(t: TestContext, program: string) {
  const container = randomBytes(32).toString('hex')
  const isV2 = existsSync(join(CGROUPS, 'cgroup.controllers'))
  const pod = join(
    isV2 ? CGROUPS : join(CGROUPS, 'freezer'),
    `berth-test-kubepods-${process.pid}-${container}`,
  )
  const group = join(pod, `cri-containerd-${container}.scope`)
  mkdirSync(group, { recursive: true })
  const file = join(tempDir(t), program)
  writeFileSync(file, "setInterval(() => process.stdout.write('.'), 10)")
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  let count = 0
  child.stdout.on('data', (piece: Buffer) => (count += piece.length))
  writeFileSync(join(group, 'cgroup.procs'), String(child.pid))
  cleanUpAfter(t, async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    for (const directory of [group, dirname(group)]) await removed(directory)
  })
  return { container, ticks: () => count }
}

/** The kernel lets go of a group a moment after its last process. */
async function removed(directory: string): Promise<void> {
  await eventually(`${directory} can be removed`, () => {
    try {
      rmdirSync(directory)
      return true
    } catch {
      return false
    }
  })
}
