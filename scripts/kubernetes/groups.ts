// The control groups of the cluster: in each hierarchy one, and below it one for each node. They outlive namespaces, so
// they are removed by name.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export const GROUP = 'berth-kubernetes'
const REMOVE_WITHIN_MS = 30_000

/** Where the hierarchies of a version are. */
function hierarchies(version: 'cgroup' | 'cgroup2'): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => (line.includes(` - ${version} `) ? [line.split(' ')[4]!] : []))
}

/** Returns its name in every hierarchy. */
export function makeGroup(node: string): string {
  const mounted = hierarchies('cgroup')
  if (mounted.length === 0) {
    throw new Error(
      'Cannot make a cluster: this machine has no control groups of version 1; set KUBECONFIG instead',
    )
  }
  const group = `/${GROUP}/${node}`
  for (const hierarchy of mounted) {
    mkdirSync(join(hierarchy, group), { recursive: true })
    // A group of processors begins with none.
    for (const name of ['cpuset.cpus', 'cpuset.mems']) copyDown(hierarchy, group, name)
  }
  return group
}

function copyDown(hierarchy: string, group: string, name: string): void {
  let directory = hierarchy
  let value: string | undefined
  for (const part of group.split('/').filter(Boolean)) {
    value = readIfThere(join(directory, name))
    directory = join(directory, part)
    if (value !== undefined) writeFileSync(join(directory, name), value)
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Once their processes have ended, which takes the kernel a moment. */
export async function removeGroups(): Promise<void> {
  const deadline = performance.now() + REMOVE_WITHIN_MS
  for (;;) {
    try {
      // Container runtimes make some in the hierarchy of version 2 beside the others.
      for (const hierarchy of [...hierarchies('cgroup'), ...hierarchies('cgroup2')]) {
        removeTree(join(hierarchy, GROUP))
      }
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await delay(100)
    }
  }
}

/** The files of a group are the kernel's; only directories can be removed. */
function removeTree(directory: string): void {
  for (const name of directoriesIn(directory)) removeTree(join(directory, name))
  try {
    rmdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function directoriesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    )
  } catch {
    return []
  }
}
