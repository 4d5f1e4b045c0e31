// The frames of a track of sound. Each has the same duration, and together they have no gap.
import { Chunks } from './chunks.ts'
import { Growing } from './growing.ts'

export class SoundTable {
  readonly #sizes = new Growing()
  readonly chunks = new Chunks()
  #bytes = 0

  get count(): number {
    return this.#sizes.count
  }

  get bytes(): number {
    return this.#bytes
  }

  /** `offset` counts from the first byte of media. */
  add({ bytes, offset }: { bytes: number; offset: number }): void {
    this.#sizes.add(bytes)
    this.chunks.add(offset, bytes)
    this.#bytes += bytes
  }

  sizes(): Uint32Array {
    return this.#sizes.all()
  }
}
