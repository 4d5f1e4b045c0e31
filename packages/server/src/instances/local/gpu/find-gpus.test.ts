// Listings as machines of the three vendors give them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findGpus, versionIn } from './find-gpus.ts'
import { cdiLibraries, type DeviceFile, type GpuListing, type RenderNode } from './listing.ts'

const device = (path: string, major: number, minor: number, mode = 0o666): DeviceFile => ({
  path,
  major,
  minor,
  mode,
  isOpen: true,
})
const nothing: GpuListing = {
  nvidiaDevices: [],
  renderNodes: [],
  nvidiaVersion: undefined,
  nvidiaModels: {},
  nvidiaLibraries: [],
  vulkanDrivers: [],
  system: '',
}
const OPEN_MODULE =
  'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (dvs-builder@U22-I3)\nGCC version:  gcc 12\n'
const CLOSED_MODULE =
  'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.247.01  Mon Apr  7 19:10:15 UTC 2025\n'
const librariesOf = (version: string) =>
  [
    'libEGL_nvidia.so',
    'libGLX_nvidia.so',
    'libnvidia-allocator.so',
    'libnvidia-eglcore.so',
    'libnvidia-glcore.so',
    'libnvidia-glsi.so',
    'libnvidia-glvkspirv.so',
    'libnvidia-gpucomp.so',
    'libnvidia-ml.so',
    'libnvidia-rtcore.so',
    'libnvidia-tls.so',
  ].map((name) => `${name}.${version}`)

/** A machine of a data centre: no displays, so no /dev/dri. */
const h200: GpuListing = {
  ...nothing,
  nvidiaDevices: [device('/dev/nvidia0', 195, 0), device('/dev/nvidiactl', 195, 255)],
  nvidiaVersion: OPEN_MODULE,
  nvidiaModels: { 0: 'NVIDIA H200' },
  nvidiaLibraries: [
    {
      path: '/usr/local/nvidia/lib64',
      files: [...librariesOf('580.159.04'), 'libEGL_nvidia.so.0', 'libnvidia-allocator.so.1'],
    },
  ],
}
const renderNode = (changes: Partial<RenderNode>): RenderNode => ({
  ...device('/dev/dri/renderD128', 226, 128, 0o660),
  vendor: '0x8086',
  driver: 'i915',
  sysfs: '/sys/devices/pci0000:00/0000:00:02.0',
  ...changes,
})
const mesa = [
  'intel_hasvk_icd.x86_64.json',
  'intel_icd.x86_64.json',
  'lvp_icd.x86_64.json',
  'radeon_icd.x86_64.json',
]

test('NVIDIA without /dev/dri: its devices, and the libraries of the driver with their names', () => {
  const { gpus, problems } = findGpus(h200, 'auto')
  assert.deepEqual(problems, [])
  const [gpu] = gpus
  assert.equal(gpu!.device, '/dev/nvidia0')
  assert.equal(gpu!.name, 'NVIDIA H200')
  assert.deepEqual(
    gpu!.devices.map(({ path }) => path),
    ['/dev/nvidia0', '/dev/nvidiactl'],
  )
  assert.ok(gpu!.libraries.includes('/usr/local/nvidia/lib64/libnvidia-glvkspirv.so.580.159.04'))
  assert.ok(!gpu!.libraries.some((path) => path.includes('libnvidia-ml')), 'only what draws')
  assert.equal(gpu!.links['libEGL_nvidia.so.0'], 'libEGL_nvidia.so.580.159.04')
  assert.equal(gpu!.links['libnvidia-allocator.so.1'], 'libnvidia-allocator.so.580.159.04')
  assert.equal(gpu!.drivers, 'own')
})

test('NVIDIA with /dev/dri is one GPU, and two cards are two', () => {
  const desktop: GpuListing = {
    ...h200,
    nvidiaDevices: [device('/dev/nvidia1', 195, 1), ...h200.nvidiaDevices],
    renderNodes: [renderNode({ vendor: '0x10de', driver: 'nvidia' })],
  }
  assert.deepEqual(
    findGpus(desktop, 'auto').gpus.map((gpu) => [gpu.device, gpu.name, gpu.devices.length]),
    [
      ['/dev/nvidia1', 'NVIDIA GPU', 2],
      ['/dev/nvidia0', 'NVIDIA H200', 2],
    ],
  )
  assert.equal(findGpus(desktop, '/dev/nvidia1').gpus.length, 1)
})

test('Intel and AMD: the render node, their own drivers of Mesa, and their place in sysfs', () => {
  const intel = findGpus(
    { ...nothing, renderNodes: [renderNode({})], vulkanDrivers: mesa, system: '/system' },
    'auto',
  )
  assert.deepEqual(intel.gpus[0]!.drivers, [
    '/system/usr/share/vulkan/icd.d/intel_hasvk_icd.x86_64.json',
    '/system/usr/share/vulkan/icd.d/intel_icd.x86_64.json',
  ])
  assert.equal(intel.gpus[0]!.sysfs, '/sys/devices/pci0000:00/0000:00:02.0')
  assert.deepEqual(intel.gpus[0]!.libraries, [])
  const amd = findGpus(
    { ...nothing, renderNodes: [renderNode({ vendor: '0x1002', driver: 'amdgpu' })], vulkanDrivers: mesa },
    'auto',
  )
  assert.deepEqual(amd.gpus[0]!.drivers, ['/usr/share/vulkan/icd.d/radeon_icd.x86_64.json'])
  assert.equal(amd.gpus[0]!.name, 'AMD GPU')
})

const problemOf = (listing: GpuListing, wanted = 'auto') => {
  const { gpus, problems } = findGpus(listing, wanted)
  assert.deepEqual(gpus, [])
  return problems.join('; ')
}

test('why there is none is told apart', () => {
  assert.match(problemOf(nothing), /^this host has no GPU/)
  assert.match(problemOf(nothing, '/dev/nvidia0'), /does not have \(it has: none\)/)
  assert.match(
    problemOf({ ...h200, nvidiaLibraries: [{ path: '/usr/lib64', files: librariesOf('570.86.15') }] }),
    /driver 580\.159\.04 is newer than its libraries, which are 570\.86\.15: install the libraries of 580\.159\.04/,
  )
  assert.match(
    problemOf({ ...h200, nvidiaVersion: CLOSED_MODULE }),
    /driver 535\.247\.01 is older than its libraries, which are 580\.159\.04: restart/,
  )
  assert.match(
    problemOf({ ...h200, nvidiaLibraries: [] }),
    /no library libEGL_nvidia .*NVIDIA_DRIVER_CAPABILITIES/,
  )
  const files = h200.nvidiaLibraries[0]!.files.filter((name) => !name.startsWith('libnvidia-glsi'))
  assert.match(
    problemOf({ ...h200, nvidiaLibraries: [{ path: '/usr/lib64', files }] }),
    /libnvidia-glsi\.so\.580\.159\.04 is missing in \/usr\/lib64/,
  )
  assert.match(
    problemOf({ ...h200, nvidiaDevices: [device('/dev/nvidia0', 195, 0)] }),
    /nvidiactl is missing/,
  )
  const closed = h200.nvidiaDevices.map((each) => ({ ...each, isOpen: false }))
  assert.match(problemOf({ ...h200, nvidiaDevices: closed }), /may not open \/dev\/nvidia0/)
  assert.match(
    problemOf({ ...nothing, renderNodes: [renderNode({})] }),
    /apt-get install mesa-vulkan-drivers/,
  )
  assert.match(
    problemOf({ ...nothing, renderNodes: [renderNode({ vendor: '0x10de', driver: 'nouveau' })] }),
    /driver nouveau, which has no Vulkan/,
  )
  assert.match(
    problemOf({ ...nothing, renderNodes: [renderNode({ vendor: '0x1af4', driver: 'virtio_gpu' })] }),
    /vendor 0x1af4 \(virtio_gpu\), which is not supported/,
  )
})

test('the version of either kernel module is read', () => {
  assert.equal(versionIn(OPEN_MODULE), '580.159.04')
  assert.equal(versionIn(CLOSED_MODULE), '535.247.01')
  assert.equal(versionIn(undefined), undefined)
})

test('a CDI file names the directory of the libraries', () => {
  const yaml = `containerEdits:
  mounts:
  - containerPath: /usr/lib64/libEGL_nvidia.so.580.1
    hostPath: /opt/driver/lib64/libEGL_nvidia.so.580.1\n`
  assert.deepEqual(cdiLibraries(yaml), ['/opt/driver/lib64'])
  assert.deepEqual(cdiLibraries('{"hostPath": "/a/libEGL_nvidia.so.1", "x": 1}'), ['/a'])
  assert.deepEqual(cdiLibraries(''), [])
})
