// Finds the host's programs that start instances. They are found once and called by their full
// path, because started programs have no environment to search.
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const directories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

/** The Debian package of each program. */
const packages = {
  bwrap: 'bubblewrap',
  setpriv: 'util-linux',
  unshare: 'util-linux',
  mount: 'mount',
  flock: 'util-linux',
  sh: 'dash',
  mkfifo: 'coreutils',
  nice: 'coreutils',
  mknod: 'coreutils',
  chown: 'coreutils',
} as const

export type Program = keyof typeof packages
export type Programs = Readonly<Record<Program, string>>

export function findProgram(name: string): string | undefined {
  return directories.map((directory) => join(directory, name)).find(isExecutable)
}

export function findPrograms(): { programs: Programs; missing: string[] } {
  const missing: string[] = []
  const found = Object.entries(packages).map(([name, packageName]) => {
    const path = findProgram(name)
    if (!path) missing.push(`The program "${name}" is missing: run apt-get install ${packageName}`)
    return [name, path ?? name]
  })
  // SAFETY: built from the keys of `packages`.
  return { programs: Object.fromEntries(found) as Programs, missing }
}

/** The file with which an agent makes system calls that Node does not offer. Undefined when koffi has no build for us. */
export function findNativeCalls(): string | undefined {
  const { arch } = process
  try {
    const koffi = createRequire(createRequire(import.meta.url).resolve('koffi'))
    return koffi.resolve(`@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`)
  } catch {
    return undefined
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
