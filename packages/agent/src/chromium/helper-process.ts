// Finds a helper of Chromium, which is a process of its own, by the service that it offers.
import { readdirSync, readFileSync } from 'node:fs'

/** `service`: as Chromium names it, such as storage.mojom.StorageService. */
export function helperOf(browser: number, service: string): number | undefined {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => groupOf(pid) === browser && isOf(pid, service))
}

const isOf = (pid: number, service: string) =>
  read(`/proc/${pid}/cmdline`).includes(`--utility-sub-type=${service}`)

/** The browser leads a process group of its own. */
function groupOf(pid: number): number {
  // After the name, which can contain anything: state, parent, group.
  return Number(
    read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')[2],
  )
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
