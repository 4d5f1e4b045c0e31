// The resource usage of a process and its descendants, as the kernel counts it.
import { readdirSync, readFileSync } from 'node:fs'

/** The kernel's unit of processor time, the same on every architecture. */
const TICKS_PER_SECOND = 100

export interface Usage {
  /** Processor time so far. */
  readonly seconds: number
  readonly residentBytes: number
}

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly session: number
  readonly ticks: number
}

/** Covers the process, its descendants, and orphans of its session. */
export function usageOf(pid: number): Usage {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(name) ?? []) : []))
  const family = new Set([pid])
  // Parents may come after their children in the list.
  for (let size = 0; size !== family.size;) {
    size = family.size
    for (const each of all) {
      if (each.session === pid || family.has(each.parent)) family.add(each.pid)
    }
  }
  let ticks = 0
  let residentBytes = 0
  for (const each of all) {
    if (!family.has(each.pid)) continue
    ticks += each.ticks
    residentBytes += residentBytesOf(each.pid)
  }
  return { seconds: ticks / TICKS_PER_SECOND, residentBytes }
}

/** Undefined when the process has just ended. */
function statOf(pid: string): Stat | undefined {
  const text = textOf(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The program name before it may contain brackets and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index])
  // Its own user and system time, and that of the children it has waited for.
  const ticks = number(11) + number(12) + number(13) + number(14)
  return { pid: Number(pid), parent: number(1), session: number(3), ticks }
}

function residentBytesOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`) ?? '')?.[1]
  return Number(kilobytes ?? 0) * 1024
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
