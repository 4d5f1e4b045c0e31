// Swap on disk, encrypted: a file below a plain mapping of dm-crypt. Its key is random, only the kernel knows it, and it
// ends with the mapping. There is no swap file without encryption: it would hold what pages hold, such as passwords.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SwapRoom } from '../../driver/driver.ts'
import { findProgram } from '../programs.ts'
import { runProgram } from './run-program.ts'
import { readSwapDevices, type SwapDevice } from './swap-devices.ts'
import type { SwapKind } from './swap-kind.ts'

/** Only root may pass its directory. */
const FILE = '/var/lib/berth/standby/swap'
const MAPPING = 'berth-standby'
const MAPPED = `/dev/mapper/${MAPPING}`
const PRIORITY = '32767'
/** The disk must not be full because of it. */
const MAX_PART_OF_FREE_DISK = 0.5

/** A key from the kernel, not from a passphrase. */
export const cryptsetupArguments = (file: string): string[] => [
  'open',
  '--type',
  'plain',
  '--cipher',
  'aes-xts-plain64',
  '--key-size',
  '512',
  '--key-file',
  '/dev/urandom',
  file,
  MAPPING,
]

export class EncryptedFile implements SwapKind {
  readonly #bytes: number

  constructor({ bytes }: { bytes: number }) {
    this.#bytes = bytes
  }

  get place(): string {
    return `an encrypted swap file of ${Math.floor(this.#bytes / 2 ** 20)} MB`
  }

  whyNot(): string | undefined {
    for (const program of ['cryptsetup', 'fallocate', 'mkswap', 'swapon', 'swapoff']) {
      if (findProgram(program) !== undefined) continue
      const remedy = program === 'cryptsetup' ? ': run apt-get install cryptsetup-bin' : ''
      return `the program "${program}" is missing${remedy}`
    }
    const isThere = readFileSync('/proc/misc', 'utf8').includes('device-mapper')
    if (!isThere) return 'the kernel cannot encrypt a swap file: run modprobe dm-crypt'
    if (this.#path !== undefined) return undefined
    const { bavail, bsize } = statfsSync(existsSync('/var/lib') ? '/var/lib' : '/')
    if (bavail * bsize * MAX_PART_OF_FREE_DISK < this.#bytes) {
      return `the disk has too little room for ${this.place}: lower BERTH_DEEP_STANDBY_SWAP_MB`
    }
    return undefined
  }

  usable(devices: readonly SwapDevice[]): readonly SwapDevice[] {
    const ours = this.#path
    return devices.filter(({ path }) => path === ours || path === MAPPED)
  }

  async make(): Promise<void> {
    // What an earlier boot left cannot be read by anybody.
    await this.remove()
    mkdirSync(dirname(FILE), { recursive: true, mode: 0o700 })
    await runProgram('fallocate', ['--length', String(this.#bytes), FILE])
    await runProgram('cryptsetup', cryptsetupArguments(FILE))
    await runProgram('mkswap', ['--label', MAPPING, MAPPED])
    await runProgram('swapon', ['--priority', PRIORITY, MAPPED])
  }

  room(devices: readonly SwapDevice[]): SwapRoom {
    const [device] = this.usable(devices)
    if (!device) return { freeBytes: this.#bytes, totalBytes: this.#bytes }
    return { freeBytes: device.sizeBytes - device.usedBytes, totalBytes: device.sizeBytes }
  }

  async remove(): Promise<void> {
    const path = this.#path
    if (path !== undefined) {
      if (this.usable(readSwapDevices()).length > 0) await runProgram('swapoff', [path])
      await runProgram('cryptsetup', ['close', MAPPING])
    }
    rmSync(FILE, { force: true })
  }

  /** As the kernel lists it, such as /dev/dm-0. */
  get #path(): string | undefined {
    try {
      return realpathSync(MAPPED)
    } catch {
      return undefined
    }
  }
}
