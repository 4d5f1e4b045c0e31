// What an instance writes to its stderr: bubblewrap's complaints and the agent's. A fifo that its writers
// hold open for reading too: so it does not break when the server goes, and holds 64 KiB at most
// however much the tenant writes. A server that is there empties it and keeps the last words.
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { run } from '@berth/kit/child-process'

const CAPACITY = 64 * 1024
const KEPT = 4 * 1024

/** Shared: it is read from and let go of within one turn. */
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

  static async make({ mkfifo, path }: { mkfifo: string; path: string }): Promise<StderrFifo> {
    // Root's alone: the tenant writes through the descriptor, and must not open it anew as it likes.
    await run({ command: mkfifo, args: ['-m', '600', path], env: {} })
    return new StderrFifo(path)
  }

  /** Of an instance that runs. */
  static open(path: string): StderrFifo {
    return new StderrFifo(path)
  }

  /**
   * Calls `use` with a descriptor to give to the instance. Not ours: it becomes a blocking one there,
   * and whether one blocks is common to all that came of one open().
   */
  lend<Result>(use: (descriptor: number) => Result): Result {
    const descriptor = openSync(this.#path, constants.O_RDWR)
    try {
      return use(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }

  /** Takes out what was written since the last time; the end of all of it is kept. */
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
