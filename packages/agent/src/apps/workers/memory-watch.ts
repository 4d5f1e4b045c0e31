// Checks twice a second how much memory the processes of an invocation use together. The kernel's limits apply to each
// process alone.
import { readdirSync, readFileSync } from 'node:fs'

const EVERY_MS = 500
const PAGE_BYTES = 4096
const MiB = 1024 * 1024

export interface Watched {
  /** The first process; the others are its descendants. */
  readonly pid: number | undefined
  readonly memoryMb: number
  onTooMuch(): void
}

interface Process {
  readonly parent: number
  /** Memory of the process alone, without shared memory. */
  readonly bytes: number
}

export class MemoryWatch {
  readonly #watched = new Set<Watched>()
  #timer: NodeJS.Timeout | undefined

  add(one: Watched): void {
    this.#watched.add(one)
    this.#timer ??= setInterval(() => this.#look(), EVERY_MS)
  }

  remove(one: Watched): void {
    this.#watched.delete(one)
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const processes = allProcesses()
    const children = Map.groupBy(processes.keys(), (pid) => processes.get(pid)!.parent)
    const sumOf = (pid: number): number =>
      (processes.get(pid)?.bytes ?? 0) +
      (children.get(pid) ?? []).reduce((sum, child) => sum + sumOf(child), 0)
    for (const one of this.#watched) {
      if (one.pid !== undefined && sumOf(one.pid) > one.memoryMb * MiB) one.onTooMuch()
    }
  }
}

/** All processes of the instance. */
function allProcesses(): Map<number, Process> {
  const found = new Map<number, Process>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      // The name of a program may contain anything, so the fields are read after its last bracket.
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)[1])
      const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'latin1')
        .split(' ', 3)
        .map(Number)
      found.set(pid, { parent, bytes: (resident - shared) * PAGE_BYTES })
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found
}
