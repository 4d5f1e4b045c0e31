// What an instance with a GPU gets of the machine, and others do not. The device is that of /dev/null under a name of its
// own, which only root may open, as render nodes are only for a group.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { NoCapacity } from '@berth/server/instances/driver/driver'
import type { Gpu } from '@berth/server/instances/local/gpu/find-gpus'
import { Gpus } from '@berth/server/instances/local/gpu/gpus'
import { deviceAt } from '@berth/server/instances/local/gpu/listing'
import type { LocalDriver } from '@berth/server/instances/local/local-driver'
import {
  instanceOptions,
  makeDataDir,
  openDriver,
  shellInside,
  skip,
  startInstance,
  suiteOwner,
} from './fixture.ts'

const withGpu = () => ({ ...instanceOptions(), gpu: true })

describe(
  'an instance with a GPU',
  { skip: skip || (process.getuid!() === 0 ? false : 'only root makes devices') },
  () => {
    const owner = suiteOwner()
    const dataDir = makeDataDir(owner)
    const device = `/dev/berth-test-${process.pid}`
    /** Any file that everybody may read. */
    const library = '/etc/passwd'
    let gpu: Gpu
    let driver: LocalDriver
    const open = () =>
      openDriver(owner, {
        dataDir,
        findGpus: async () =>
          new Gpus(
            [{ gpu, name: 'Test GPU' }],
            { problems: [], isUnwanted: false },
            { wanted: 'auto', sessionsEach: 1 },
          ),
      })

    before(async () => {
      execFileSync('mknod', ['-m', '0600', device, 'c', '1', '3'])
      owner.after(() => rmSync(device, { force: true }))
      gpu = {
        device,
        name: 'Test GPU',
        devices: deviceAt(device),
        libraries: [library],
        links: { 'libberth-test.so': 'passwd' },
        drivers: 'own',
      }
      driver = await open()
      assert.deepEqual(driver.capabilities.gpu.gpus, [{ device, name: 'Test GPU' }])
    })

    test('opens its device, finds the libraries, and the host is as it was', async () => {
      const instance = await startInstance(owner, driver, withGpu())
      const { stdout, stderr } = await shellInside(
        instance,
        `echo word > ${device} && echo written; head -c 5 /run/berth-gpu/libberth-test.so; cat /etc/vulkan/icd.d/*; touch /dev/x /run/berth-gpu/x`,
      )
      assert.match(stdout, /^written\nroot:\{.*"library_path":"\/run\/berth-gpu\/libEGL_nvidia\.so\.0"/)
      assert.equal(stderr.match(/Read-only file system|Permission denied/g)?.length, 2, stderr)
      assert.equal(statSync(device).uid, 0)
      assert.equal(statSync(device).mode & 0o777, 0o600)

      const other = await startInstance(owner, driver)
      const seen = await shellInside(other, `ls -d ${device} /run/berth-gpu /etc/vulkan`)
      assert.equal(seen.stdout, '')
      await other.destroy()

      await assert.rejects(driver.start(withGpu()), NoCapacity)
      await instance.destroy()
      const next = await startInstance(owner, driver, withGpu())
      await next.destroy()
    })

    test('still counts when another server takes it over, and ends when its GPU vanishes', async () => {
      const instance = await driver.start(withGpu())
      await driver.close()
      driver = await open()
      const [adopted] = await driver.adopt()
      assert.equal(adopted!.id, instance.id)
      await assert.rejects(driver.start(withGpu()), NoCapacity)
      rmSync(device)
      assert.equal(await adopted!.ended, 'lost')
      await assert.rejects(driver.start(withGpu()), /has vanished since the server started/)
    })
  },
)
