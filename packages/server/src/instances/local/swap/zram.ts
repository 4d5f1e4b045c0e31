// Swap in memory, compressed: zram. The device is made for Berth, and shared by the servers of the machine.
// https://docs.kernel.org/admin-guide/blockdev/zram.html
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { SwapRoom } from '../../driver/driver.ts'
import { findProgram } from '../programs.ts'
import { runProgram } from './run-program.ts'
import { readSwapDevices, type SwapDevice } from './swap-devices.ts'
import type { SwapKind } from './swap-kind.ts'

const CONTROL = '/sys/class/zram-control'
/** Says which device is ours. Gone after a reboot, as the device is. */
const RECORD = '/run/berth/.standby-swap/zram'
/** The quickest first: a wake decompresses what it needs. */
const ALGORITHMS = ['lz4', 'lzo-rle', 'lzo']
/** What fits is bounded by the memory that it takes, not by its size. Browsers compress to a third. */
const SIZE_PER_MEMORY = 4
/** Pages go to the device with the highest priority first. */
const PRIORITY = '32767'

export class Zram implements SwapKind {
  /** The most memory that it may take. */
  readonly #bytes: number

  constructor({ bytes }: { bytes: number }) {
    this.#bytes = bytes
  }

  get place(): string {
    return `zram, at most ${Math.floor(this.#bytes / 2 ** 20)} MB of memory`
  }

  whyNot(): string | undefined {
    for (const program of ['mkswap', 'swapon', 'swapoff']) {
      if (findProgram(program) === undefined) return `the program "${program}" is missing`
    }
    if (!existsSync(CONTROL)) return 'the kernel has no zram: run modprobe zram'
    try {
      // Reading hot_add makes a device, even where nothing could be done with it.
      accessSync(join(CONTROL, 'hot_remove'), constants.W_OK)
    } catch {
      return 'the server may not make zram devices here'
    }
    return undefined
  }

  usable(devices: readonly SwapDevice[]): readonly SwapDevice[] {
    const ours = this.#recorded
    return devices.filter(({ path }) => path === ours)
  }

  async make(): Promise<void> {
    const path = this.#recorded ?? newDevice()
    mkdirSync(dirname(RECORD), { recursive: true, mode: 0o700 })
    writeFileSync(RECORD, path, { mode: 0o600 })
    const files = sysfsOf(path)
    // Somebody was killed before it was in use.
    writeFileSync(join(files, 'reset'), '1')
    const offered: readonly string[] =
      readFileSync(join(files, 'comp_algorithm'), 'utf8').match(/[\w-]+/g) ?? []
    const algorithm = ALGORITHMS.find((name) => offered.includes(name))
    if (algorithm !== undefined) writeFileSync(join(files, 'comp_algorithm'), algorithm)
    writeFileSync(join(files, 'disksize'), String(this.#bytes * SIZE_PER_MEMORY))
    writeFileSync(join(files, 'mem_limit'), String(this.#bytes))
    await runProgram('mkswap', ['--label', 'berth-standby', path])
    await runProgram('swapon', ['--priority', PRIORITY, path])
  }

  /** As if nothing more could be compressed, so that the device never refuses a page. */
  room(devices: readonly SwapDevice[]): SwapRoom {
    const [device] = this.usable(devices)
    if (!device) return { freeBytes: this.#bytes, totalBytes: this.#bytes }
    const { usedBytes, limitBytes } = readUse(readFileSync(join(sysfsOf(device.path), 'mm_stat'), 'utf8'))
    const totalBytes = limitBytes || this.#bytes
    const unused = device.sizeBytes - device.usedBytes
    return { freeBytes: Math.max(0, Math.min(unused, totalBytes - usedBytes)), totalBytes }
  }

  async remove(): Promise<void> {
    const path = this.#recorded
    if (path === undefined) return
    const isOn = readSwapDevices().some((device) => device.path === path)
    if (isOn) await runProgram('swapoff', [path])
    writeFileSync(join(sysfsOf(path), 'reset'), '1')
    writeFileSync(join(CONTROL, 'hot_remove'), basename(path).slice('zram'.length))
    rmSync(RECORD, { force: true })
  }

  get #recorded(): string | undefined {
    try {
      const path = readFileSync(RECORD, 'utf8')
      return /^\/dev\/zram\d+$/.test(path) && existsSync(sysfsOf(path)) ? path : undefined
    } catch {
      return undefined
    }
  }
}

function newDevice(): string {
  const number = readFileSync(join(CONTROL, 'hot_add'), 'utf8').trim()
  const path = `/dev/zram${number}`
  if (existsSync(path)) return path
  writeFileSync(join(CONTROL, 'hot_remove'), number)
  throw new Error(`"${path}" does not appear in /dev`)
}

const sysfsOf = (path: string): string => `/sys/block/${basename(path)}`

/** `orig_data_size compr_data_size mem_used_total mem_limit …`, in bytes. */
export function readUse(mmStat: string): { usedBytes: number; limitBytes: number } {
  const [, , usedBytes = 0, limitBytes = 0] = mmStat.trim().split(/\s+/).map(Number)
  return { usedBytes, limitBytes }
}
