// Reads a file as a log: to its end, or from its end on, across rotation and truncation.
import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import { pause } from '@berth/kit/pause'
import { ControlError } from '../calls/operation.ts'
import { LineCutter } from '../../log/line-cutter.ts'
import type { ReadOptions } from '../../log/service-log.ts'

const BLOCK_BYTES = 64 * 1024
/** How often to look for new lines; each look costs two system calls. */
const LOOK_EVERY_MS = 100

export class FileLog {
  readonly #path: string
  readonly #cutter = new LineCutter()
  #descriptor: number
  #position = 0
  #size = 0
  #isClosed = false

  /** Opens the file at once, so that an error is reported before the stream begins. */
  constructor(path: string, { fromEnd }: { fromEnd: boolean }) {
    this.#path = path
    this.#descriptor = open(path)
    if (fromEnd) this.#position = fstatSync(this.#descriptor).size
    this.#size = this.#position
  }

  async *read({ follow, signal }: ReadOptions): AsyncGenerator<string> {
    try {
      while (!signal.aborted) {
        const block = this.#block()
        if (block.length > 0) yield* this.#cutter.take(block)
        else if (!follow) break
        else if (this.#isReplaced()) {
          yield* this.#cutter.rest()
          this.#reopen()
        } else if (this.#isTruncated()) {
          yield* this.#cutter.rest()
          this.#position = 0
        } else await pause(LOOK_EVERY_MS, signal)
      }
      yield* this.#cutter.rest()
    } finally {
      this.close()
    }
  }

  /** Works even if read() was never called. */
  close(): void {
    if (!this.#isClosed) closeSync(this.#descriptor)
    this.#isClosed = true
  }

  #block(): Buffer {
    const block = Buffer.allocUnsafe(BLOCK_BYTES)
    const length = readSync(this.#descriptor, block, 0, block.length, this.#position)
    this.#position += length
    return block.subarray(0, length)
  }

  /** Whether another file has its name now. A missing file may come back, so it does not count. */
  #isReplaced(): boolean {
    const named = statSync(this.#path, { throwIfNoEntry: false })
    return named !== undefined && named.isFile() && !isSame(named, fstatSync(this.#descriptor))
  }

  #reopen(): void {
    const descriptor = open(this.#path)
    closeSync(this.#descriptor)
    this.#descriptor = descriptor
    this.#position = 0
    this.#size = 0
  }

  /** The size must have changed, because files in /proc always report the size 0. */
  #isTruncated(): boolean {
    const { size } = fstatSync(this.#descriptor)
    const hasChanged = size !== this.#size
    this.#size = size
    return hasChanged && size < this.#position
  }
}

const isSame = (one: Stats, other: Stats) => one.ino === other.ino && one.dev === other.dev

function open(path: string): number {
  let descriptor: number
  try {
    // Opening a fifo would otherwise wait for its writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new ControlError('not_found', `Cannot find the log "${path}"`, { cause: error })
    }
    throw new ControlError('bad_request', `Cannot read the log "${path}": ${code}`, { cause: error })
  }
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw new ControlError('bad_request', `Cannot read the log "${path}": it is not a file`)
}
