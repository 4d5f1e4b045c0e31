// Chromium forks its pages and helpers from zygotes. Without them Chromium still runs and answers, but its
// pages are gone, new ones never work, and it reports nothing.
import { readdirSync, readFileSync } from 'node:fs'

export function zygotesOf(chromiumPid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === chromiumPid && isZygote(pid))
}

/** False once the zygote has ended, even if its pid is in use again. */
export function isZygote(pid: number): boolean {
  // Chromium rewrites its title, and then spaces separate the arguments.
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
