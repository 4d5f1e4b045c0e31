// For hosts without control groups, and only if weak isolation is allowed: no limits and no freezing.
// An instance is found by its bubblewrap processes. The inner one is the first process of its pid
// namespace, so the kernel ends all others with it.
import { readFileSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { pause } from '@berth/kit/pause'
import { killIfThere } from './cgroup-files.ts'
import { wantedControllers, type Cgroup, type Cgroups } from './cgroup.ts'

const LOOK_EVERY_MS = 10

export class NoCgroups implements Cgroups {
  readonly kind = 'none'
  readonly missing: readonly string[] = wantedControllers
  readonly canFreeze = false
  readonly whyNoPageOut = 'this host has no control groups'
  readonly parents: readonly string[] = []

  async create(id: string): Promise<Cgroup> {
    return this.find(id)
  }

  find(id: string): Cgroup {
    return new ProcessesOf(id)
  }

  list(): string[] {
    return []
  }

  release(): void {}
}

class ProcessesOf implements Cgroup {
  readonly entrances: readonly string[] = []
  readonly #id: string

  constructor(id: string) {
    this.#id = id
  }

  async freeze(): Promise<void> {
    throw new Error('Cannot freeze: this host has no freezer')
  }

  thaw(): void {}

  isFrozen(): boolean {
    return false
  }

  memoryUse(): undefined {}

  setSwapping(): void {}

  get pageOut(): never {
    throw new Error('Cannot move memory to swap: this host has no control groups')
  }

  isOverLimit(): boolean {
    return false
  }

  setLimits(): void {}

  setBackground(): void {}

  async kill(): Promise<void> {
    for (let pids = this.processes(); pids.length > 0; pids = this.processes()) {
      for (const pid of pids) killIfThere(pid)
      await pause(LOOK_EVERY_MS)
    }
  }

  isEmpty(): boolean {
    return this.processes().length === 0
  }

  oomKills(): number {
    return 0
  }

  async remove(): Promise<void> {}

  /** Every bubblewrap process that binds the instance's directory. */
  processes(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        const [program = '', ...args] = commandLine(pid)
        return basename(program) === 'bwrap' && args.some((argument) => argument.endsWith(`/${this.#id}/pub`))
      })
      .map(Number)
  }
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}
