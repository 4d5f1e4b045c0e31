// Which of a machine's GPUs instances could use, what each needs, and why the others are of no use.
import { join } from 'node:path'
import { VULKAN_DRIVERS, type DeviceFile, type GpuListing, type RenderNode } from './listing.ts'

export interface Gpu {
  /** Names it in BERTH_GPU, in messages and in the record of an instance. */
  readonly device: string
  readonly name: string
  readonly devices: readonly DeviceFile[]
  /** Libraries of its driver that the system of instances does not have, by their path on this machine. */
  readonly libraries: readonly string[]
  /** Further names of these, as programs ask for them. */
  readonly links: Readonly<Record<string, string>>
  /** Files that name its driver to Vulkan. `own`: the one that we write, for NVIDIA. */
  readonly drivers: readonly string[] | 'own'
  /** Where sysfs has it, for drivers that read there what it is. */
  readonly sysfs?: string
}

export interface FoundGpus {
  readonly gpus: readonly Gpu[]
  /** Why there is none, or why not all of them can be used. */
  readonly problems: readonly string[]
}

const NVIDIA = '0x10de'
const mesaDrivers: Readonly<Record<string, { vendor: string; drivers: RegExp }>> = {
  '0x8086': { vendor: 'Intel', drivers: /^intel_(icd|hasvk_icd)\b.*\.json$/ },
  '0x1002': { vendor: 'AMD', drivers: /^radeon_icd\b.*\.json$/ },
}

/** Without any of these, Vulkan does not start, or cannot compile a shader. */
const NEEDED = [
  'libEGL_nvidia',
  'libnvidia-eglcore',
  'libnvidia-glsi',
  'libnvidia-tls',
  'libnvidia-glvkspirv',
]
/** Used where they are there: older and newer drivers have different ones. */
const USEFUL = [
  'libGLESv2_nvidia',
  'libnvidia-allocator',
  'libnvidia-gpucomp',
  'libnvidia-rtcore',
  'libnvidia-api',
]

/** `wanted`: auto, or the path of one device. */
export function findGpus(listing: GpuListing, wanted: string): FoundGpus {
  const nvidia = findNvidia(listing)
  const mesa = listing.renderNodes
    .filter(({ vendor }) => vendor !== NVIDIA)
    .map((node) => findMesa(listing, node))
  const strange = nvidia.gpus.length === 0 && nvidia.problems.length === 0 ? openSourceNvidia(listing) : []
  const all = [nvidia, ...mesa]
  const gpus = all.flatMap((each) => each.gpus)
  const problems = [...all.flatMap((each) => each.problems), ...strange]
  if (wanted === 'auto') {
    if (gpus.length > 0 || problems.length > 0) return { gpus, problems }
    return {
      gpus,
      problems: [
        'this host has no GPU: there is neither /dev/nvidia0 nor /dev/dri/renderD128. In a container, pass the device in (docs/gpu.md)',
      ],
    }
  }
  const chosen = gpus.filter(({ device }) => device === wanted)
  if (chosen.length > 0) return { gpus: chosen, problems: [] }
  if (problems.length > 0) return { gpus: [], problems }
  const known = gpus.map(({ device }) => device).join(', ') || 'none'
  return {
    gpus: [],
    problems: [
      `BERTH_GPU names "${wanted}", which this host does not have (it has: ${known}); use auto or one of these`,
    ],
  }
}

const none = (problem: string): FoundGpus => ({ gpus: [], problems: [problem] })

function findNvidia(listing: GpuListing): FoundGpus {
  const cards = listing.nvidiaDevices.filter(({ path }) => /^\/dev\/nvidia\d+$/.test(path))
  if (cards.length === 0) return { gpus: [], problems: [] }
  const control = listing.nvidiaDevices.find(({ path }) => path === '/dev/nvidiactl')
  if (!control) {
    return none('/dev/nvidiactl is missing: run nvidia-modprobe, or pass the device into the container')
  }
  const shared = listing.nvidiaDevices.filter(({ path }) => !cards.some((card) => card.path === path))
  const closed = [...cards, ...shared].find((device) => !device.isOpen)
  if (closed) return none(`the server may not open ${closed.path}: ${WHO_MAY}`)
  const version = versionIn(listing.nvidiaVersion)
  const found = nvidiaLibraries(listing, version)
  if ('problem' in found) return none(found.problem)
  return {
    gpus: cards.map((card) => ({
      device: card.path,
      name: listing.nvidiaModels[card.minor] ?? 'NVIDIA GPU',
      devices: [card, ...shared],
      drivers: 'own',
      ...found,
    })),
    problems: [],
  }
}

const WHO_MAY = 'run it as root, or add its user to the group of the device'
const INSTALL =
  "install NVIDIA's graphics libraries (Debian: libegl-nvidia0 and nvidia-vulkan-icd; Ubuntu: libnvidia-gl). In a container, set NVIDIA_DRIVER_CAPABILITIES=all"

/** "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build" */
export function versionIn(text: string | undefined): string | undefined {
  return /^NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s/m.exec(text ?? '')?.[1]
}

function nvidiaLibraries(
  { nvidiaLibraries: directories }: GpuListing,
  kernel: string | undefined,
): { libraries: string[]; links: Record<string, string> } | { problem: string } {
  const versions = directories.flatMap(({ files }) =>
    files.flatMap((name) => versionOf('libEGL_nvidia', name)),
  )
  if (versions.length === 0) {
    return { problem: `the NVIDIA driver has no library libEGL_nvidia on this host: ${INSTALL}` }
  }
  // The kernel's module and the libraries work together only when they have the same version.
  const version = kernel ?? versions[0]!
  const home = directories.find(({ files }) => files.includes(`libEGL_nvidia.so.${version}`))
  if (!home) {
    const has = versions[0]!
    return {
      problem: isNewer(version, has)
        ? `the NVIDIA driver ${version} is newer than its libraries, which are ${has}: install the libraries of ${version}`
        : `the NVIDIA driver ${version} is older than its libraries, which are ${has}: restart the machine, so that it loads the new driver`,
    }
  }
  const missing = NEEDED.find((name) => !home.files.includes(`${name}.so.${version}`))
  if (missing !== undefined) {
    return { problem: `the library ${missing}.so.${version} is missing in ${home.path}: ${INSTALL}` }
  }
  const names = [...NEEDED, ...USEFUL].flatMap((name) =>
    home.files.filter(
      (file) =>
        file === `${name}.so.${version}` ||
        (/^lib[\w-]+\.so\.\d+$/.test(file) && file.startsWith(`${name}.so.`)),
    ),
  )
  const isVersioned = (name: string) => name.endsWith(`.so.${version}`)
  const libraries = names.filter(isVersioned).map((name) => join(home.path, name))
  const links: Record<string, string> = {}
  for (const name of names.filter((each) => !isVersioned(each))) {
    const target = `${name.replace(/\.so\..*$/, '')}.so.${version}`
    if (names.includes(target)) links[name] = target
    else libraries.push(join(home.path, name))
  }
  // What programs ask for, even where nobody made the link.
  links['libEGL_nvidia.so.0'] ??= `libEGL_nvidia.so.${version}`
  return { libraries, links }
}

function versionOf(library: string, file: string): string[] {
  const prefix = `${library}.so.`
  const version = file.startsWith(prefix) ? file.slice(prefix.length) : ''
  return /^\d+\.\d+/.test(version) ? [version] : []
}

function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number)) as [number[], number[]]
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}

function findMesa({ vulkanDrivers, system }: GpuListing, node: RenderNode): FoundGpus {
  const known = mesaDrivers[node.vendor]
  if (!known) {
    return none(
      `the GPU ${node.path} is of vendor ${node.vendor} (${node.driver}), which is not supported: NVIDIA, Intel and AMD are`,
    )
  }
  if (!node.isOpen) return none(`the server may not open ${node.path}: ${WHO_MAY}`)
  const drivers = vulkanDrivers.filter((name) => known.drivers.test(name))
  if (drivers.length === 0) {
    return none(
      `the ${known.vendor} GPU ${node.path} has no Vulkan driver that sessions see: run apt-get install mesa-vulkan-drivers, then npm run setup`,
    )
  }
  return {
    gpus: [
      {
        device: node.path,
        name: `${known.vendor} GPU`,
        devices: [pick(node)],
        libraries: [],
        links: {},
        drivers: drivers.map((name) => join(system + VULKAN_DRIVERS, name)),
        sysfs: node.sysfs,
      },
    ],
    problems: [],
  }
}

function pick({ path, major, minor, mode, isOpen }: RenderNode): DeviceFile {
  return { path, major, minor, mode, isOpen }
}

/** The kernel's own driver for NVIDIA's GPUs; it has no Vulkan in Debian. */
function openSourceNvidia({ renderNodes }: GpuListing): string[] {
  const node = renderNodes.find(({ vendor }) => vendor === NVIDIA)
  if (!node) return []
  return [
    node.driver === 'nvidia'
      ? `the NVIDIA GPU ${node.path} has no /dev/nvidia0: run nvidia-modprobe, or pass the device into the container`
      : `the NVIDIA GPU ${node.path} runs with the driver ${node.driver}, which has no Vulkan: install NVIDIA's own driver`,
  ]
}
