import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Programs } from '../programs.ts'
import type { Gpu } from './find-gpus.ts'
import { gpuArguments, gpuStage } from './gpu-arguments.ts'

const nvidia: Gpu = {
  device: '/dev/nvidia0',
  name: 'NVIDIA L4',
  devices: [
    { path: '/dev/nvidia0', major: 195, minor: 0, mode: 0o666, isOpen: true },
    { path: '/dev/nvidiactl', major: 195, minor: 255, mode: 0o666, isOpen: true },
  ],
  libraries: ['/usr/lib64/libEGL_nvidia.so.580.1'],
  links: { 'libEGL_nvidia.so.0': 'libEGL_nvidia.so.580.1' },
  drivers: 'own',
}
const intel: Gpu = {
  device: '/dev/dri/renderD128',
  name: 'Intel GPU',
  devices: [{ path: '/dev/dri/renderD128', major: 226, minor: 128, mode: 0o660, isOpen: true }],
  libraries: [],
  links: {},
  drivers: ['/usr/share/vulkan/icd.d/intel_icd.x86_64.json'],
  sysfs: '/sys/devices/pci0000:00/0000:00:02.0',
}
const programs = new Proxy({}, { get: (_, name) => `/bin/${String(name)}` }) as Programs
const options = { shared: '/run/berth/.shared', uid: 1234 }
const text = (words: readonly string[]) => words.join(' ')

test("NVIDIA's devices, libraries and driver file are bound, each by its own name", () => {
  const words = text(gpuArguments(nvidia, options))
  for (const part of [
    '--dev-bind /dev/nvidia0 /dev/nvidia0 --dev-bind /dev/nvidiactl /dev/nvidiactl',
    '--ro-bind /usr/lib64/libEGL_nvidia.so.580.1 /run/berth-gpu/libEGL_nvidia.so.580.1',
    '--symlink libEGL_nvidia.so.580.1 /run/berth-gpu/libEGL_nvidia.so.0',
    '--ro-bind /run/berth/.shared/nvidia_icd.json /etc/vulkan/icd.d/nvidia_icd.json',
  ])
    assert.ok(words.includes(part), part)
  assert.doesNotMatch(words, /\/sys|\/dev\/dri|--dev-bind \/dev /)
  assert.deepEqual(gpuStage(nvidia, programs, 1234), [], 'everybody may open them')
})

test('a device that is not for everybody gets a node of the instance', () => {
  const stage = gpuStage(intel, programs, 1234)
  assert.match(text(stage), /1234 renderD128 226 128 --$/)
  assert.match(text(gpuArguments(intel, options)), /--dev-bind \/media\/renderD128 \/dev\/dri\/renderD128/)
  const plain = { ...options, uid: undefined }
  assert.deepEqual(gpuStage(intel, programs, undefined), [])
  assert.match(text(gpuArguments(intel, plain)), /--dev-bind \/dev\/dri\/renderD128 \/dev\/dri\/renderD128/)
})

test('of sysfs, an instance sees its GPU only', () => {
  const words = text(gpuArguments(intel, options))
  const bound = [...words.matchAll(/--ro-bind (\/sys\S*)/g)].map(([, path]) => path)
  assert.deepEqual(bound, [intel.sysfs])
  assert.ok(words.includes(`--symlink ${intel.sysfs}/drm/renderD128 /sys/dev/char/226:128`))
})
