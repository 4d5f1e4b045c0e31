// File access for both kinds of control groups. The files belong to the kernel, so synchronous access
// takes microseconds and never waits for a disk.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '@berth/kit/pause'

const REMOVE_WITHIN_MS = 5_000
const MAX_KILL_PAUSE_MS = 100

export function write(group: string, file: string, value: string | number): void {
  // Without O_CREAT: a file that the kernel does not offer must not be created.
  writeFileSync(join(group, file), String(value), { flag: 'r+' })
}

/** Writes a file that only some kernels have. */
export function writeIfThere(group: string, file: string, value: string | number): void {
  if (existsSync(join(group, file))) write(group, file, value)
}

/**
 * An idle group runs only when nothing else wants the CPU, and yields at once. With few shares it would finish
 * its time slice first, which users notice. Returns false for kernels before 5.15, which lack idle groups.
 */
export function setIdle(group: string, isIdle: boolean): boolean {
  if (!existsSync(join(group, 'cpu.idle'))) return false
  write(group, 'cpu.idle', isIdle ? 1 : 0)
  return true
}

/** The text of a file, or undefined when the file or group does not exist any more. */
export function read(group: string, file: string): string | undefined {
  try {
    return readFileSync(join(group, file), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ENODEV: the group was removed while its file was open.
    if (code === 'ENOENT' || code === 'ENODEV') return undefined
    throw error
  }
}

/** Reads the number after `key` from a file of `key number` lines. */
export function readCount(group: string, file: string, key: string): number {
  const line = read(group, file)
    ?.split('\n')
    .find((entry) => entry.startsWith(`${key} `))
  return line ? Number(line.slice(key.length + 1)) : 0
}

export function processesIn(group: string): number[] {
  return (read(group, 'cgroup.procs') ?? '').split('\n').filter(Boolean).map(Number)
}

/**
 * Sends SIGKILL until no process is left. The signal is sent before the thaw, so frozen processes die without
 * running another instruction.
 */
export async function killUntilEmpty(groups: readonly string[], thaw: () => void): Promise<void> {
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, MAX_KILL_PAUSE_MS)) {
    const pids = new Set(groups.flatMap(processesIn))
    if (pids.size === 0) return
    for (const pid of pids) killIfThere(pid)
    thaw()
    await pause(waitMs)
  }
}

export function killIfThere(pid: number): void {
  // A process in a pid namespace that we cannot see is listed as 0, and kill(0) would kill us.
  if (pid <= 0) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export function makeGroup(path: string): void {
  mkdirSync(path, { recursive: true })
}

/** The kernel releases a group a moment after its last process; until then it is busy. */
export async function removeGroup(path: string): Promise<void> {
  const deadline = performance.now() + REMOVE_WITHIN_MS
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, MAX_KILL_PAUSE_MS)) {
    try {
      rmdirSync(path)
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return
      if (code !== 'EBUSY' || performance.now() > deadline) throw error
    }
    await pause(waitMs)
  }
}

/** Removes an empty parent; another server on this host may still use it. */
export function removeIfUnused(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'EBUSY' && code !== 'ENOTEMPTY') throw error
  }
}

export function groupsIn(parent: string): string[] {
  try {
    return readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
