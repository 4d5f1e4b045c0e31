// What this machine has of GPUs, as its kernel and its package manager say. Reading only: find-gpus.ts judges it, so that
// listings of other machines can be tested.
import { execFileSync } from 'node:child_process'
import { accessSync, constants, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface DeviceFile {
  readonly path: string
  readonly major: number
  readonly minor: number
  /** The permission bits. */
  readonly mode: number
  /** Whether this process may open it for reading and writing. */
  readonly isOpen: boolean
}

/** Intel's and AMD's drivers give one to each GPU, and so does NVIDIA's where its part for displays is loaded. */
export interface RenderNode extends DeviceFile {
  /** PCI's number of the vendor, such as 0x8086. */
  readonly vendor: string
  /** The kernel's driver, such as i915. */
  readonly driver: string
  /** Where sysfs has the device: Mesa reads there what it is. */
  readonly sysfs: string
}

export interface GpuListing {
  /** /dev/nvidia0 and so on, and /dev/nvidiactl. */
  readonly nvidiaDevices: readonly DeviceFile[]
  readonly renderNodes: readonly RenderNode[]
  /** What /proc/driver/nvidia/version says; undefined without NVIDIA's kernel module. */
  readonly nvidiaVersion: string | undefined
  /** Models by the number of /dev/nvidia<number>. */
  readonly nvidiaModels: Readonly<Record<number, string>>
  /** Directories with NVIDIA's libraries, and all of their files that may belong to them; links with their target. */
  readonly nvidiaLibraries: readonly LibraryDirectory[]
  /** Files in /usr/share/vulkan/icd.d of the system that instances see. */
  readonly vulkanDrivers: readonly string[]
  /** That system; empty for the machine's own root. */
  readonly system: string
}

export interface LibraryDirectory {
  readonly path: string
  readonly files: readonly string[]
}

/** Not nvidia-uvm, which is for computing: nobody opens it to render. */
const NVIDIA_DEVICE = /^nvidia(\d+|ctl)$/
const NVIDIA_LIBRARY = /^lib(GLX|EGL|GLESv2|GLESv1_CM)_nvidia\.so|^libnvidia-[\w-]+\.so/
/** Where container runtimes and distributions put them when the linker's cache does not name them. */
const USUAL_DIRECTORIES = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/x86_64-linux-gnu/nvidia/current',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu/nvidia/current',
  '/usr/lib64',
  '/usr/local/nvidia/lib64',
  '/usr/local/nvidia/lib',
]
const CDI_DIRECTORIES = ['/etc/cdi', '/var/run/cdi']
export const VULKAN_DRIVERS = '/usr/share/vulkan/icd.d'

/** `system`: the root of what instances see. */
export function listGpus(system: string): GpuListing {
  const nvidiaDevices = list('/dev')
    .filter((name) => NVIDIA_DEVICE.test(name))
    .flatMap((name) => deviceAt(join('/dev', name)))
  const renderNodes = list('/dev/dri')
    .filter((name) => /^renderD\d+$/.test(name))
    .flatMap((name) => renderNodeAt(join('/dev/dri', name)))
  const hasNvidia = nvidiaDevices.length > 0
  return {
    nvidiaDevices,
    renderNodes,
    nvidiaVersion: read('/proc/driver/nvidia/version'),
    nvidiaModels: hasNvidia ? nvidiaModels() : {},
    nvidiaLibraries: hasNvidia ? nvidiaLibraries() : [],
    vulkanDrivers: list(system + VULKAN_DRIVERS),
    system,
  }
}

/** Empty when there is none, or when it is no device. */
export function deviceAt(path: string): DeviceFile[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isCharacterDevice()) return []
  // As glibc takes a device number apart.
  const number = BigInt(stat.rdev)
  const major = Number(((number >> 8n) & 0xfffn) | ((number >> 32n) & 0xfffff000n))
  const minor = Number((number & 0xffn) | ((number >> 12n) & 0xffffff00n))
  return [{ path, major, minor, mode: stat.mode & 0o777, isOpen: mayOpen(path) }]
}

function renderNodeAt(path: string): RenderNode[] {
  return deviceAt(path).flatMap((device) => {
    try {
      const sysfs = realpathSync(`/sys/dev/char/${device.major}:${device.minor}/device`)
      const vendor = readFileSync(join(sysfs, 'vendor'), 'utf8').trim()
      const driver = realpathSync(join(sysfs, 'driver')).split('/').at(-1)!
      return [{ ...device, vendor, driver, sysfs }]
    } catch {
      // Not on PCI, such as the GPU of a board. Nobody knows which driver it needs.
      return []
    }
  })
}

function nvidiaModels(): Record<number, string> {
  const directory = '/proc/driver/nvidia/gpus'
  return Object.fromEntries(
    list(directory).flatMap((bus) => {
      const text = read(join(directory, bus, 'information')) ?? ''
      const model = /^Model:\s*(.+)$/m.exec(text)?.[1]
      const minor = /^Device Minor:\s*(\d+)$/m.exec(text)?.[1]
      return model && minor !== undefined ? [[Number(minor), model.trim()]] : []
    }),
  )
}

function nvidiaLibraries(): LibraryDirectory[] {
  const directories = [...ldconfigDirectories(), ...cdiDirectories(), ...USUAL_DIRECTORIES]
  const real = directories.flatMap((path) => {
    try {
      return [realpathSync(path)]
    } catch {
      return []
    }
  })
  return [...new Set(real)].flatMap((path) => {
    const files = list(path).filter((name) => NVIDIA_LIBRARY.test(name))
    return files.length > 0 ? [{ path, files: files.toSorted() }] : []
  })
}

/** Where the linker finds libraries of NVIDIA. */
function ldconfigDirectories(): string[] {
  const program = ['/sbin/ldconfig', '/usr/sbin/ldconfig'].find((path) =>
    statSync(path, { throwIfNoEntry: false }),
  )
  if (program === undefined) return []
  try {
    const text = execFileSync(program, ['-p'], { encoding: 'utf8', env: {}, timeout: 5_000, stdio: 'pipe' })
    return [...text.matchAll(/lib(?:EGL_nvidia|nvidia-\w+)\.so\S* .*=> (\S+)$/gm)].map(([, path]) =>
      dirname(path!),
    )
  } catch {
    return []
  }
}

/** What NVIDIA's toolkit wrote for container runtimes. Only its paths are of interest. */
function cdiDirectories(): string[] {
  return CDI_DIRECTORIES.flatMap((directory) =>
    list(directory)
      .filter((name) => /nvidia.*\.(ya?ml|json)$/.test(name))
      .flatMap((name) => cdiLibraries(read(join(directory, name)) ?? '')),
  )
}

export function cdiLibraries(text: string): string[] {
  const paths = text.matchAll(/"?hostPath"?:\s*"?([^\s",]*\/libEGL_nvidia\.so[^\s",]*)/g)
  return [...new Set([...paths].map(([, path]) => dirname(path!)))]
}

function mayOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
