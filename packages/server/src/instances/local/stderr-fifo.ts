// An instance's stderr: messages of bubblewrap and the agent. It is a fifo that its writers also hold
// open for reading, so it does not break when the server ends, and holds at most 64 KiB however much
// the tenant writes. A running server empties it and keeps the last lines.
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { run } from '@berth/kit/child-process'

const CAPACITY = 64 * 1024
const KEPT = 4 * 1024

/** Only for root: the tenant writes through a descriptor and must not be able to open the file again. */
export async function makeFifos({
  mkfifo,
  paths,
}: {
  mkfifo: string
  paths: readonly string[]
}): Promise<void> {
  await run({ command: mkfifo, args: ['-m', '600', ...paths], env: {} })
}

/** Shared, because each use begins and ends within one turn. */
const buffer = Buffer.alloc(CAPACITY)

export class StderrFifo {
  readonly #path: string
  readonly #reader: number
  #lastWords = ''
  #isOpen = true

  private constructor(path: string) {
    this.#path = path
    this.#reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  }

  /** The fifo exists; also that of a running instance. */
  static open(path: string): StderrFifo {
    return new StderrFifo(path)
  }

  /**
   * Calls `use` with a descriptor for the instance. It is not ours: the instance makes it blocking, and
   * blocking applies to every descriptor from the same open().
   */
  lend<Result>(use: (descriptor: number) => Result): Result {
    const descriptor = openSync(this.#path, constants.O_RDWR)
    try {
      return use(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }

  /** Reads what was written since the last call, and keeps the end of everything. */
  drain(): string {
    if (!this.#isOpen) return this.#lastWords
    try {
      const length = readSync(this.#reader, buffer)
      if (length > 0) this.#lastWords = (this.#lastWords + buffer.toString('utf8', 0, length)).slice(-KEPT)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
    return this.#lastWords.trim()
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#reader)
    this.#isOpen = false
  }
}
