// One invocation: its output and its end, as numbered records that are kept until the server has them.
import { MAX_HELD_LOG_BYTES, type RunRecord } from '@berth/contracts/app-link'
import type { Worker } from './workers/worker.ts'

export class Run {
  readonly #worker: Worker
  #records: RunRecord[] = []
  #heldBytes = 0
  #last = 0
  readonly #waiting = new Set<() => void>()

  constructor(worker: Worker) {
    this.#worker = worker
    worker.follow((line) => {
      this.#add({ log: line })
      this.#heldBytes += line.length
      return this.#heldBytes < MAX_HELD_LOG_BYTES
    })
    void worker.ended.then((end) => this.#add({ end }))
  }

  /** The server has all records up to `n`, so they are dropped. */
  async after(n: number, waitMs: number, signal: AbortSignal): Promise<RunRecord[]> {
    this.#forgetUpTo(n)
    if (this.#records.length === 0 && !signal.aborted) await this.#change(waitMs, signal)
    return this.#records
  }

  kill(reason: string): void {
    this.#worker.kill(reason)
  }

  #forgetUpTo(n: number): void {
    const kept = this.#records.findIndex((record) => record.n > n)
    const gone = kept === -1 ? this.#records.splice(0) : this.#records.splice(0, kept)
    for (const { log } of gone) this.#heldBytes -= log?.length ?? 0
    if (gone.length > 0) this.#worker.resume()
  }

  #add(record: Omit<RunRecord, 'n'>): void {
    this.#records.push({ n: ++this.#last, ...record })
    for (const wake of this.#waiting) wake()
  }

  async #change(waitMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    const wake = () => resolve()
    this.#waiting.add(wake)
    signal.addEventListener('abort', wake)
    await promise
    clearTimeout(timer)
    this.#waiting.delete(wake)
    signal.removeEventListener('abort', wake)
  }
}
