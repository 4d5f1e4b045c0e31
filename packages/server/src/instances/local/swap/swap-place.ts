// Where the memory of sessions in deep standby goes. Linux does not let a group choose among the machine's swap devices:
// so as long as one is in use that is neither ours nor allowed by the operator, nothing is moved.
import { mkdirSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname } from 'node:path'
import { SerialQueue } from '@berth/kit/serial-queue'
import type { DeepStandbyReport, SwapRoom } from '../../driver/driver.ts'
import type { Log } from '../../driver/log.ts'
import { InstancesLock } from '../instances-lock.ts'
import { EncryptedFile } from './encrypted-file.ts'
import { OperatorsSwap } from './operators-swap.ts'
import { readSwapDevices, type SwapDevice } from './swap-devices.ts'
import type { SwapKind } from './swap-kind.ts'
import { Zram } from './zram.ts'

const MB = 2 ** 20
const LOCK = '/run/berth/.standby-swap/lock'
const DEFAULT_PART_OF_MEMORY = 0.5
/** Less than this goes back to memory when the last session has ended. */
const MAX_LEFT_BYTES = 64 * MB

export interface SwapSettings {
  /** `auto`: zram, else an encrypted file. A list: these devices of the operator. */
  readonly wanted: 'auto' | 'zram' | 'file' | 'off' | readonly string[]
  /** 0: half of the memory of the machine. */
  readonly megabytes: number
}

export interface SwapPlaceOptions {
  readonly kinds: readonly SwapKind[]
  /** Why no instance can be moved, wherever to; undefined where they can. */
  readonly whyNot: string | undefined
  readonly isUnwanted: boolean
  /** Runs this while no other server of the machine does the same. */
  readonly alone: (work: () => Promise<void>) => Promise<void>
  readonly log: Log
  readonly readDevices?: () => readonly SwapDevice[]
}

export class SwapPlace {
  readonly #options: SwapPlaceOptions
  readonly #kind: SwapKind | undefined
  readonly #whyNoKind: string | undefined
  /** What went wrong when the device was made. */
  #failure: string | undefined
  readonly #making = new SerialQueue()

  constructor(options: SwapPlaceOptions) {
    this.#options = options
    const reasons = options.kinds.map((kind) => kind.whyNot())
    this.#kind = options.kinds[reasons.indexOf(undefined)]
    this.#whyNoKind = this.#kind ? undefined : reasons.join('; ')
  }

  /** Changes nothing on the machine: the device is made when the first session needs it. */
  static find(
    { wanted, megabytes }: SwapSettings,
    { flock, ...options }: Pick<SwapPlaceOptions, 'whyNot' | 'log'> & { flock: string },
  ): SwapPlace {
    const bytes = megabytes > 0 ? megabytes * MB : Math.floor(totalmem() * DEFAULT_PART_OF_MEMORY)
    const zram = new Zram({ bytes })
    const file = new EncryptedFile({ bytes })
    const kinds =
      typeof wanted === 'string'
        ? { auto: [zram, file], zram: [zram], file: [file], off: [] }[wanted]
        : [new OperatorsSwap(wanted)]
    return new SwapPlace({
      ...options,
      kinds,
      isUnwanted: wanted === 'off',
      alone: (work) => aloneOnThisMachine(flock, work),
    })
  }

  get report(): DeepStandbyReport {
    const { isUnwanted } = this.#options
    const problem = this.#problem
    const place = problem === undefined ? this.#kind!.place : undefined
    return { place, problem, isUnwanted }
  }

  get room(): SwapRoom {
    if (!this.#kind || this.#problem !== undefined) return { freeBytes: 0, totalBytes: 0 }
    return this.#kind.room(this.#devices)
  }

  /** Makes the device where there is none yet. Rejects when memory might go where it must not. */
  async prepare(): Promise<void> {
    await this.#making.run(() => this.#prepare())
    this.#throwProblem()
  }

  /** No instance of this server is left. Other servers of the machine may still use it. */
  async release(): Promise<void> {
    const kind = this.#kind
    if (!kind || this.#mustStay(kind)) return
    try {
      await this.#options.alone(async () => {
        if (!this.#mustStay(kind)) await kind.remove()
      })
    } catch (error) {
      this.#options.log.warn({ err: error }, 'cannot turn the swap of deep standby off')
    }
  }

  /** Also when there is nothing to turn off. */
  #mustStay(kind: SwapKind): boolean {
    const usable = kind.usable(this.#devices)
    return usable.length === 0 || usable.some(({ usedBytes }) => usedBytes > MAX_LEFT_BYTES)
  }

  async #prepare(): Promise<void> {
    this.#throwProblem()
    const kind = this.#kind!
    const isMade = () => kind.usable(this.#devices).length > 0
    if (isMade()) return
    try {
      await this.#options.alone(async () => {
        if (isMade()) return
        await kind.make()
        this.#options.log.info({ place: kind.place }, 'made swap for sessions in deep standby')
      })
    } catch (error) {
      this.#failure = `${kind.place} cannot be made: ${(error as Error).message}`
      await kind.remove().catch(() => {})
      throw error
    }
  }

  #throwProblem(): void {
    const problem = this.#problem
    if (problem !== undefined) throw new Error(`Cannot move memory to swap: ${problem}`)
  }

  get #problem(): string | undefined {
    const { isUnwanted, whyNot } = this.#options
    if (isUnwanted) return 'it is turned off'
    return whyNot ?? this.#whyNoKind ?? this.#failure ?? this.#whyForeign()
  }

  #whyForeign(): string | undefined {
    const devices = this.#devices
    const ours = new Set(this.#kind!.usable(devices))
    const foreign = devices.filter((device) => !ours.has(device)).map(({ path }) => path)
    if (foreign.length === 0) return undefined
    const names = foreign.join(', ')
    return `the machine also swaps to ${names}: name all its swap devices in BERTH_DEEP_STANDBY_SWAP to allow them, or run swapoff ${foreign.join(' ')}`
  }

  get #devices(): readonly SwapDevice[] {
    const { readDevices = readSwapDevices } = this.#options
    return readDevices()
  }
}

async function aloneOnThisMachine(flock: string, work: () => Promise<void>): Promise<void> {
  mkdirSync(dirname(LOCK), { recursive: true, mode: 0o700 })
  const lock = await InstancesLock.take({ flock, path: LOCK })
  try {
    await work()
  } finally {
    lock.release()
  }
}
