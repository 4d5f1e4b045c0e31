// The processes that Chromium's pages and helpers are forked from. Without them Chromium runs on and answers,
// but its pages are gone, no other ever works, and it tells nobody.
import { readdirSync, readFileSync } from 'node:fs'

export function zygotesOf(chromiumPid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === chromiumPid && isZygote(pid))
}

/** False for one that ended, and for whatever has its number since. */
export function isZygote(pid: number): boolean {
  // Chromium writes its title anew, and then arguments are apart by spaces.
  return /[\0 ]--type=zygote[\0 ]/.test(read(`/proc/${pid}/cmdline`))
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1])
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
