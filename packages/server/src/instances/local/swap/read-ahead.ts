// Reads ahead what an instance needs first when it wakes. That is what came back to memory in the first moment after its
// last wake: the kernel lists it (PAGEMAP_SCAN, since Linux 6.7), and brings it back at the next wake (process_madvise),
// while the processes already run and miss less and less. Without one of both, each page comes when it is missed.
import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { joinRegions, MAX_REGIONS, type Region } from './regions.ts'

/** _IOWR('f', 16, struct pm_scan_arg) */
const PAGEMAP_SCAN = 0xc060_6610
const SCAN_BYTES = 96
const WALK_END_AT = 32
const REGION_BYTES = 24
const PAGE = { isFile: 4n, isPresent: 8n, isZero: 32n }
/** Of user space, on x64 and arm64. */
const LAST_ADDRESS = 0x7fff_ffff_f000n
const MAX_SCANS = 8

/** The same everywhere. */
const CALL = { pidfdOpen: 434, processMadvise: 440 }
const MADV_WILLNEED = 3
/** IOV_MAX */
const REGIONS_PER_CALL = 1024
const IOVEC_BYTES = 16
/** More is not what somebody waits for. */
const MAX_BYTES = 96 * 2 ** 20

/** The pages of an instance that it needed first. */
export interface WorkingSet {
  readonly parts: readonly { readonly pid: number; readonly regions: readonly Region[] }[]
  readonly bytes: number
}

interface NativeCalls {
  readonly ioctl: (descriptor: number, request: number, argument: Buffer) => Promise<number>
  readonly syscall: (...args: [number, number, Buffer | null, number, number, number]) => Promise<number>
  readonly close: (descriptor: number) => number
  readonly addressOf: (buffer: Buffer) => bigint
}

export class ReadAhead {
  readonly #calls: NativeCalls

  private constructor(calls: NativeCalls) {
    this.#calls = calls
  }

  /** Undefined where the kernel cannot do it. */
  static async open(): Promise<ReadAhead | undefined> {
    try {
      const readAhead = new ReadAhead(nativeCalls())
      const { bytes } = await readAhead.look([process.pid])
      return bytes > 0 ? readAhead : undefined
    } catch {
      return undefined
    }
  }

  /** What is in memory now. The processes may end meanwhile. */
  async look(pids: readonly number[]): Promise<WorkingSet> {
    const parts: { pid: number; regions: Region[] }[] = []
    let left = { bytes: MAX_BYTES, regions: MAX_REGIONS }
    for (const pid of pids) {
      const regions = joinRegions(await this.#scan(pid), left)
      if (regions.length > 0) parts.push({ pid, regions })
      left = { bytes: left.bytes - sizeOf(regions), regions: left.regions - regions.length }
    }
    return { parts, bytes: MAX_BYTES - left.bytes }
  }

  /** Resolves when the kernel has been asked for all of it. Never rejects: what is not brought back comes when it is missed. */
  async bring({ parts }: WorkingSet, isThere: (pid: number) => boolean): Promise<void> {
    for (const { pid, regions } of parts) {
      if (isThere(pid)) await this.#bring(pid, regions).catch(() => {})
    }
  }

  async #scan(pid: number): Promise<Region[]> {
    const found: Region[] = []
    let pagemap: number
    try {
      pagemap = openSync(`/proc/${pid}/pagemap`, 'r')
    } catch {
      return found
    }
    try {
      const places = Buffer.alloc(MAX_REGIONS * REGION_BYTES)
      let start = 0n
      for (let scan = 0; scan < MAX_SCANS; scan++) {
        const argument = scanArgument(start, this.#calls.addressOf(places))
        const count = await this.#calls.ioctl(pagemap, PAGEMAP_SCAN, argument)
        for (let index = 0; index < count; index++) {
          const at = index * REGION_BYTES
          found.push({ start: places.readBigUInt64LE(at), end: places.readBigUInt64LE(at + 8) })
        }
        if (count < MAX_REGIONS) break
        start = argument.readBigUInt64LE(WALK_END_AT)
      }
      return found
    } finally {
      closeSync(pagemap)
    }
  }

  async #bring(pid: number, regions: readonly Region[]): Promise<void> {
    const { syscall, close } = this.#calls
    const descriptor = await syscall(CALL.pidfdOpen, pid, null, 0, 0, 0)
    if (descriptor < 0) return
    try {
      for (let from = 0; from < regions.length; from += REGIONS_PER_CALL) {
        const some = regions.slice(from, from + REGIONS_PER_CALL)
        await syscall(CALL.processMadvise, descriptor, iovecOf(some), some.length, MADV_WILLNEED, 0)
      }
    } finally {
      close(descriptor)
    }
  }
}

/** A struct pm_scan_arg: anonymous pages that are in memory. */
function scanArgument(start: bigint, places: bigint): Buffer {
  const { isFile, isPresent, isZero } = PAGE
  const fields = {
    size: BigInt(SCAN_BYTES),
    flags: 0n,
    start,
    end: LAST_ADDRESS,
    walkEnd: 0n,
    places,
    placesLength: BigInt(MAX_REGIONS),
    maxPages: 0n,
    inverted: isFile | isZero,
    mask: isPresent | isFile | isZero,
    anyOf: 0n,
    returned: isPresent,
  }
  const argument = Buffer.alloc(SCAN_BYTES)
  for (const [index, value] of Object.values(fields).entries()) argument.writeBigUInt64LE(value, index * 8)
  return argument
}

function iovecOf(regions: readonly Region[]): Buffer {
  const iovec = Buffer.alloc(regions.length * IOVEC_BYTES)
  for (const [index, { start, end }] of regions.entries()) {
    iovec.writeBigUInt64LE(start, index * IOVEC_BYTES)
    iovec.writeBigUInt64LE(end - start, index * IOVEC_BYTES + 8)
  }
  return iovec
}

function sizeOf(regions: readonly Region[]): number {
  return regions.reduce((total, { start, end }) => total + Number(end - start), 0)
}

let loaded: NativeCalls | undefined

function nativeCalls(): NativeCalls {
  loaded ??= loadNativeCalls()
  return loaded
}

/** In other threads, because the kernel reads from swap meanwhile. */
function loadNativeCalls(): NativeCalls {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  const libc = koffi.load('libc.so.6')
  const ioctl = libc.func('int ioctl(int, unsigned long, uint8_t *)')
  const syscall = libc.func('long syscall(long, long, const uint8_t *, long, long, long)')
  return {
    ioctl: promisify(ioctl.async) as NativeCalls['ioctl'],
    syscall: promisify(syscall.async) as NativeCalls['syscall'],
    close: libc.func('int close(int)') as NativeCalls['close'],
    addressOf: (buffer) => koffi.address(buffer),
  }
}
