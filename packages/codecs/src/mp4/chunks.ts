// Where the samples of a track are in the file: in chunks, each of which has no sample of another track inside.
import { Growing } from './growing.ts'

/** Players find a position in the file by its chunk. */
export const SAMPLES_PER_CHUNK = 32

export class Chunks {
  readonly offsets = new Growing()
  readonly counts = new Growing()
  #end = -1

  /** `offset` counts from the first byte of media. */
  add(offset: number, bytes: number): void {
    const isNext = offset === this.#end && this.counts.last < SAMPLES_PER_CHUNK
    if (isNext) this.counts.increase()
    else {
      this.offsets.add(offset)
      this.counts.add(1)
    }
    this.#end = offset + bytes
  }
}
