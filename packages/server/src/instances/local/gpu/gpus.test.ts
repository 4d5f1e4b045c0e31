import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoCapacity, NoGpu } from '../../driver/driver.ts'
import type { Gpu } from './find-gpus.ts'
import { Gpus, nameIn } from './gpus.ts'
import { deviceAt } from './listing.ts'

/** Of devices that every machine has. */
const gpuAt = (path: string): Gpu => ({
  device: path,
  name: 'GPU',
  devices: [{ path, major: 1, minor: 3, mode: 0o666, isOpen: true }],
  libraries: [],
  links: {},
  drivers: 'own',
})
const make = (paths: readonly string[], sessionsEach: number) =>
  new Gpus(
    paths.map((path) => ({ gpu: gpuAt(path), name: `GPU ${path}` })),
    { problems: [], isUnwanted: false },
    { wanted: 'auto', sessionsEach },
  )

test('instances go to the GPU with the fewest, up to the limit of each', async () => {
  const gpus = make(['/dev/null', '/dev/zero'], 2)
  const taken = await Promise.all(['a', 'b', 'c', 'd'].map(async (id) => (await gpus.take(id)).device))
  assert.deepEqual(taken, ['/dev/null', '/dev/zero', '/dev/null', '/dev/zero'])
  await assert.rejects(
    () => gpus.take('e'),
    (error) =>
      error instanceof NoCapacity &&
      /each of the 2 GPUs of this host has 2 sessions \(BERTH_GPU_MAX_SESSIONS\)/.test(error.message),
  )
  gpus.giveBack('b')
  assert.equal((await gpus.take('e')).device, '/dev/zero')
})

test('what an earlier server left counts', async () => {
  const gpus = make(['/dev/null'], 1)
  gpus.takeOver('old', '/dev/null')
  await assert.rejects(() => gpus.take('new'), /the GPU of this host has 1 session /)
  gpus.giveBack('old')
  await gpus.take('new')
})

test('a place that is given back in a moment is waited for', async () => {
  const gpus = make(['/dev/null'], 1)
  await gpus.take('old')
  const waiting = gpus.take('new')
  gpus.giveBack('old')
  assert.equal((await waiting).device, '/dev/null')
  const left = new AbortController()
  const giving = gpus.take('another', left.signal)
  left.abort(new Error('the caller left'))
  await assert.rejects(giving, /the caller left/)
})

test('a GPU that has vanished takes nobody, and those that have it are known', async () => {
  const gpus = make(['/dev/berth-vanished'], 4)
  gpus.takeOver('old', '/dev/berth-vanished')
  await assert.rejects(
    () => gpus.take('new'),
    (error) =>
      error instanceof NoGpu &&
      /\/dev\/berth-vanished has vanished since the server started/.test(error.message),
  )
  assert.deepEqual(gpus.orphans(), ['old'])
  assert.equal((await make(['/dev/null', '/dev/berth-vanished'], 1).take('a')).device, '/dev/null')
})

test('without a GPU, the reason is said', async () => {
  await assert.rejects(
    () => Gpus.none('GPU sessions are off').take('a'),
    (error) => error instanceof NoGpu && error.message === 'GPU sessions are off',
  )
})

test('a device is known by its numbers', () => {
  const [device] = deviceAt('/dev/null')
  assert.deepEqual({ ...device, mode: 0 }, { path: '/dev/null', major: 1, minor: 3, mode: 0, isOpen: true })
  assert.deepEqual(deviceAt('/etc/passwd'), [])
  assert.deepEqual(deviceAt('/dev/berth-vanished'), [])
})

test('the name of a GPU is found in what pages see', () => {
  const renderer = 'ANGLE (NVIDIA, Vulkan 1.4.312 (NVIDIA NVIDIA H200 (0x00002335)), NVIDIA)'
  assert.equal(nameIn(renderer), 'NVIDIA H200')
  const intel =
    'ANGLE (Intel, Vulkan 1.3.230 (Intel(R) UHD Graphics 630 (CFL GT2) (0x00003E92)), Intel open-source Mesa driver)'
  assert.equal(nameIn(intel), 'Intel(R) UHD Graphics 630 (CFL GT2)')
  assert.equal(nameIn('something else'), undefined)
})
