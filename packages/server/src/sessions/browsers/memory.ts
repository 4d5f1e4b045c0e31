// How much memory a session may use: what the settings give, or what the caller asked for.
import { totalmem } from 'node:os'
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import { shownMemories, type RequestableMemory, type ShownMemory } from '@berth/contracts/network'
import { invalidInput } from '../../platform/errors/app-error.ts'
import type { Instances } from '../../instances/stock/instances.ts'
import type { ExtraSource, SessionExtra } from './extras.ts'
import type { NewBrowser } from './types.ts'

const MB = 1024 * 1024
const MB_PER_GIB = 1024

export interface SessionMemoryOptions {
  readonly instances: Pick<Instances, 'memoryMbOf' | 'giveMemory'> & {
    readonly capabilities?: Pick<Instances['capabilities'], 'isElsewhere'>
  }
  /** The most that a caller may ask for. */
  readonly maxMb: number
  /** The memory of this machine. */
  readonly hostMb?: number
}

export class SessionMemory implements ExtraSource {
  readonly #options: SessionMemoryOptions

  constructor(options: SessionMemoryOptions) {
    this.#options = options
  }

  /** Throws for a request that this server never fulfils. */
  mbFor(
    { memory, headless = false, gpu = false }: CreateBrowserRequest,
    { hasScreen }: { hasScreen: boolean },
  ): number {
    if (memory === undefined) return this.#options.instances.memoryMbOf({ headless: !hasScreen })
    if (headless || gpu) throw invalidInput('memory', 'is only for headful sessions without GPU')
    const mb = toMb(memory)
    const { maxMb, hostMb = Math.floor(totalmem() / MB) } = this.#options
    if (mb > maxMb) {
      throw invalidInput(
        'memory',
        `must be at most ${maxMb} MB on this server (BERTH_SESSION_MAX_MEMORY_MB); leave it out for what the operator gives to every session`,
      )
    }
    if (!this.#options.instances.capabilities?.isElsewhere && mb > hostMb) {
      throw invalidInput(
        'memory',
        `is more than this server's host has: ${hostMb} MB; leave it out or ask for less`,
      )
    }
    return mb
  }

  extraFor({ memory }: CreateBrowserRequest, { memoryMb }: NewBrowser): Promise<SessionExtra | undefined> {
    if (memory === undefined) return Promise.resolve(undefined)
    const { instances } = this.#options
    return Promise.resolve({
      needsStart: false,
      memoryMb,
      bring: ({ instance }) => instances.giveMemory(instance, { headless: false, memoryMb }),
    })
  }

  /** The largest value of the API that a session really has, so that nobody counts on more. */
  shown({ headless, stealth, memory_mb }: { headless: boolean; stealth: boolean; memory_mb: number | null }) {
    return roundedDown(memory_mb ?? this.#options.instances.memoryMbOf({ headless: headless && !stealth }))
  }
}

export function roundedDown(mb: number): ShownMemory {
  const fitting = shownMemories.filter((memory) => toMb(memory) <= mb)
  return fitting.at(-1) ?? shownMemories[0]
}

function toMb(memory: ShownMemory | RequestableMemory): number {
  return Number.parseInt(memory, 10) * MB_PER_GIB
}
