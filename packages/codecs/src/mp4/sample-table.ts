// Size, duration and kind of each picture. All of them are needed before the first picture can be written. There may be
// four million, so they are in typed arrays (40 MB).
import { Chunks } from './chunks.ts'
import { Growing } from './growing.ts'

export class SampleTable {
  readonly #sizes = new Growing()
  readonly #times = new Growing()
  readonly #keys: number[] = []
  readonly chunks = new Chunks()
  #bytes = 0

  get count(): number {
    return this.#sizes.count
  }

  /** Size of all pictures together. */
  get bytes(): number {
    return this.#bytes
  }

  /** Numbers of the key frames, starting with 1. */
  get keys(): readonly number[] {
    return this.#keys
  }

  /**
   * Two pictures of the same moment get times one millisecond apart; otherwise the first would not be shown. `offset`
   * counts from the first byte of media.
   */
  add({ timeMs, bytes, isKey, offset }: NewSample): void {
    const isFirst = this.count === 0
    this.#sizes.add(bytes)
    // The recording begins with its first picture.
    this.#times.add(isFirst ? 0 : Math.max(this.#times.last + 1, timeMs))
    this.chunks.add(offset, bytes)
    this.#bytes += bytes
    if (isKey) this.#keys.push(this.count)
  }

  sizes(): Uint32Array {
    return this.#sizes.all()
  }

  /** How long each picture is shown; the last one until the end of the recording. */
  durations(endMs: number): Uint32Array {
    const times = this.#times.all()
    return times.map((time, index) => (times[index + 1] ?? Math.max(endMs, time + 1)) - time)
  }
}

interface NewSample {
  readonly timeMs: number
  readonly bytes: number
  readonly isKey: boolean
  readonly offset: number
}
