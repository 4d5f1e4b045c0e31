// Finds the server's own control groups in the file system. /proc/self/cgroup has each path within
// its hierarchy; /proc/self/mountinfo says which part of the hierarchy is mounted where.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const controllersOfV1 = ['memory', 'pids', 'cpu', 'freezer'] as const
export type V1Controller = (typeof controllersOfV1)[number]

export interface CgroupLocation {
  /** Directory by controller; empty without v1. */
  readonly v1: ReadonlyMap<V1Controller, string>
  readonly v2: string | undefined
}

interface Mount {
  readonly root: string
  readonly point: string
  readonly type: string
  readonly options: readonly string[]
}

export function locateCgroups(procDirectory: string): CgroupLocation {
  const mounts = readMounts(join(procDirectory, 'mountinfo'))
  const v1 = new Map<V1Controller, string>()
  let v2: string | undefined
  for (const line of readLines(join(procDirectory, 'cgroup'))) {
    // 4:memory:/some/where, 1:cpu,cpuacct:/, and 0::/ for v2; the path may contain colons.
    const [, id, names, path] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? []
    if (path === undefined) continue
    if (id === '0') {
      const mount = mounts.find(({ type }) => type === 'cgroup2')
      if (mount) v2 = directoryOf(mount, path)
      continue
    }
    for (const controller of controllersOfV1) {
      if (!names!.split(',').includes(controller)) continue
      const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller))
      if (mount) v1.set(controller, directoryOf(mount, path))
    }
  }
  return { v1, v2 }
}

/** In a container, the mount may show only a part of the hierarchy, or paths may be relative to it. */
function directoryOf(mount: Mount, path: string): string {
  if (mount.root === '/') return resolve(join(mount.point, path))
  if (path === mount.root || path.startsWith(`${mount.root}/`)) {
    return resolve(join(mount.point, path.slice(mount.root.length)))
  }
  return mount.point
}

/** `36 25 0:32 /root /point rw,relatime shared:1 - type source options`, see proc_pid_mountinfo(5). */
function readMounts(path: string): Mount[] {
  return readLines(path).flatMap((line) => {
    const [place = '', filesystem = ''] = line.split(' - ')
    const [, , , root, point] = place.split(' ')
    const [type, , options = ''] = filesystem.split(' ')
    if (root === undefined || point === undefined || !type?.startsWith('cgroup')) return []
    return [{ root: unescape(root), point: unescape(point), type, options: options.split(',') }]
  })
}

function unescape(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_match, octal: string) => String.fromCharCode(parseInt(octal, 8)))
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}
