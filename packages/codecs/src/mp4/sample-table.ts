// What has to be known of each picture before the first of them can be written: how large it is, how long it
// is shown, and whether one can begin with it. Four million of them take 40 MB, so they are in plain arrays.

const FIRST_ROOM = 1024
/** Samples that stand together; players look up a place in the file by them. */
export const SAMPLES_PER_CHUNK = 32

export class SampleTable {
  #sizes = new Uint32Array(FIRST_ROOM)
  #times = new Uint32Array(FIRST_ROOM)
  readonly #keys: number[] = []
  #count = 0
  #bytes = 0

  get count(): number {
    return this.#count
  }

  /** Of all pictures together. */
  get bytes(): number {
    return this.#bytes
  }

  /** Numbers of key frames, from 1 on. */
  get keys(): readonly number[] {
    return this.#keys
  }

  /** Two at the same moment are a millisecond apart, or the first would never be seen. */
  add({ timeMs, bytes, isKey }: { timeMs: number; bytes: number; isKey: boolean }): void {
    if (this.#count === this.#sizes.length) {
      this.#sizes = grown(this.#sizes)
      this.#times = grown(this.#times)
    }
    const earliest = this.#count === 0 ? 0 : this.#times[this.#count - 1]! + 1
    this.#sizes[this.#count] = bytes
    // It begins with the first, whenever that came.
    this.#times[this.#count] = this.#count === 0 ? 0 : Math.max(earliest, timeMs)
    this.#count++
    this.#bytes += bytes
    if (isKey) this.#keys.push(this.#count)
  }

  sizes(): Uint32Array {
    return this.#sizes.subarray(0, this.#count)
  }

  /** How long each is shown, until the end at least at which the recording ended. */
  durations(endMs: number): Uint32Array {
    const durations = new Uint32Array(this.#count)
    for (let index = 0; index < this.#count; index++) {
      const next =
        index + 1 < this.#count ? this.#times[index + 1]! : Math.max(endMs, this.#times[index]! + 1)
      durations[index] = next - this.#times[index]!
    }
    return durations
  }
}

function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2)
  larger.set(array)
  return larger
}
