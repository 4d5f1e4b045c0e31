// CPU time and memory of processes, from /proc.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { isAlive } from './alive.ts'

let ticksPerSecond: number | undefined

/** The process and its descendants, without the trees of the processes in `except`. */
export function treeOf(root: number, { except = [] }: { except?: readonly number[] } = {}): number[] {
  const children = new Map<number, number[]>()
  for (const pid of allPids()) {
    const stat = statOf(pid)
    if (stat) children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid])
  }
  const found: number[] = []
  const open = [root]
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (except.includes(pid)) continue
    found.push(pid)
    open.push(...(children.get(pid) ?? []))
  }
  return found
}

/** All processes of an account, wherever they are in the tree. */
export function pidsOfUser(uid: number): number[] {
  return allPids().filter((pid) => {
    try {
      return /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] === String(uid)
    } catch {
      return false
    }
  })
}

/** How many have ended but are not yet reaped by their parent. */
export function zombiesAmong(pids: readonly number[]): number {
  return pids.filter((pid) => !isAlive(pid)).length
}

/** Empty if the process has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** User and system time so far, including that of ended children. */
export function cpuMsOf(pids: readonly number[]): number {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  const ticks = pids.reduce((sum, pid) => sum + (statOf(pid)?.ticks ?? 0), 0)
  return (ticks / ticksPerSecond) * 1000
}

/** What root starts is two processes: the keeper, and below it the server itself. */
export function serverPids(started: number): number[] {
  return [started, ...treeOf(started).filter((pid) => / --kept\s*$/.test(commandOf(pid)))]
}

export function serverRssBytesOf(started: number): number {
  return serverPids(started).reduce((sum, pid) => sum + rssBytesOf(pid), 0)
}

export function rssBytesOf(pid: number): number {
  return kibibytes(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS') * 1024
}

/** Counts shared memory, such as PostgreSQL's buffers, once over all processes. */
export function pssBytesOf(pids: readonly number[]): number {
  // A process that has ended has no memory, even if it is not reaped yet.
  return pids
    .filter(isAlive)
    .reduce((sum, pid) => sum + kibibytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss') * 1024, 0)
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function kibibytes(text: string, field: string): number {
  const value = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]
  if (!value) throw new Error(`Cannot read ${field} of a process`)
  return Number(value)
}

/** Fields: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function statOf(pid: number): { parent: number; ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it is in brackets and may itself contain spaces and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number) as [
      number,
      number,
      number,
      number,
    ]
    return { parent: Number(fields[1]), ticks: utime + stime + cutime + cstime }
  } catch {
    // The process ended after it was listed.
    return undefined
  }
}
