// The memory of this machine.
import { readFile } from 'node:fs/promises'

const BYTES_PER_KB = 1024
const MB = 1024 * 1024

/** What can be used without taking it from somebody. */
export async function freeMemoryBytes(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8')
  return Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * BYTES_PER_KB
}

export async function freeMemoryMb(): Promise<number> {
  return Math.floor((await freeMemoryBytes()) / MB)
}
