// Stops and resumes all processes of one container of this node, by its control group.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { groupsIn, processesIn, read, readCount, write } from '../local/cgroup-files.ts'
import { waitUntilFrozen } from '../local/freezing.ts'

/** As runtimes name containers. */
const CONTAINER = /^[0-9a-f]{64}$/
const MAX_DEPTH = 12
/** The program of the container that may be frozen. */
const PROGRAM = '/pod-instance.mjs'
const MAX_KNOWN = 4_096

export interface ContainerFreezerOptions {
  /** The root of all control groups of the node. */
  readonly cgroups: string
  /** Where the node's processes are seen. */
  readonly processes: string
}

export class ContainerFreezer {
  readonly #root: string
  readonly #processes: string
  readonly #isV2: boolean
  /** A search reads some hundred directories. */
  readonly #known = new Map<string, string>()

  constructor({ cgroups, processes }: ContainerFreezerOptions) {
    this.#isV2 = existsSync(join(cgroups, 'cgroup.controllers'))
    this.#root = this.#isV2 ? cgroups : join(cgroups, 'freezer')
    this.#processes = processes
  }

  async freeze(container: string, signal: AbortSignal): Promise<void> {
    const group = this.#groupOf(container)
    try {
      await waitUntilFrozen({
        signal,
        freeze: () =>
          this.#isV2 ? write(group, 'cgroup.freeze', 1) : write(group, 'freezer.state', 'FROZEN'),
        isFrozen: () =>
          this.#isV2
            ? readCount(group, 'cgroup.events', 'frozen') === 1
            : read(group, 'freezer.state')?.trim() === 'FROZEN',
        thaw: () => this.#thaw(group),
      })
    } catch (error) {
      if (existsSync(group)) this.#thaw(group)
      throw error
    }
  }

  thaw(container: string): void {
    this.#thaw(this.#groupOf(container))
  }

  #thaw(group: string): void {
    if (this.#isV2) write(group, 'cgroup.freeze', 0)
    else write(group, 'freezer.state', 'THAWED')
  }

  /** Of nothing but an instance: whoever has the key of this program has no power over other containers. */
  #groupOf(container: string): string {
    if (!CONTAINER.test(container)) throw new Error('that is not the id of a container')
    const known = this.#known.get(container)
    if (known !== undefined && existsSync(known)) return known
    const group = this.#search(container, this.#root, 0)
    if (group === undefined) throw new Error('there is no such container on this node')
    if (!processesIn(group).some((pid) => this.#isOurs(pid))) throw new Error('it is not an instance')
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(container, group)
    return group
  }

  /** Its name is the id, or ends with it: cri-containerd-….scope, crio-….scope. */
  #search(container: string, directory: string, depth: number): string | undefined {
    if (depth > MAX_DEPTH) return undefined
    for (const name of groupsIn(directory)) {
      const path = join(directory, name)
      if (name === container || name.endsWith(`-${container}.scope`)) return path
      const found = this.#search(container, path, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }

  #isOurs(pid: number): boolean {
    try {
      const command = readFileSync(join(this.#processes, String(pid), 'cmdline'), 'utf8')
      return command.split('\0').some((part) => part.endsWith(PROGRAM))
    } catch {
      return false
    }
  }
}
