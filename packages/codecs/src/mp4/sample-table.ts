// Size, duration and kind of each picture. All of them are needed before the first picture can be written. There may be
// four million, so they are in typed arrays (40 MB).

const FIRST_ROOM = 1024
/** Samples per chunk. Players find a position in the file by its chunk. */
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

  /** Size of all pictures together. */
  get bytes(): number {
    return this.#bytes
  }

  /** Numbers of the key frames, starting with 1. */
  get keys(): readonly number[] {
    return this.#keys
  }

  /** Two pictures of the same moment get times one millisecond apart; otherwise the first would not be shown. */
  add({ timeMs, bytes, isKey }: { timeMs: number; bytes: number; isKey: boolean }): void {
    if (this.#count === this.#sizes.length) {
      this.#sizes = grown(this.#sizes)
      this.#times = grown(this.#times)
    }
    const earliest = this.#count === 0 ? 0 : this.#times[this.#count - 1]! + 1
    this.#sizes[this.#count] = bytes
    // The recording begins with its first picture.
    this.#times[this.#count] = this.#count === 0 ? 0 : Math.max(earliest, timeMs)
    this.#count++
    this.#bytes += bytes
    if (isKey) this.#keys.push(this.#count)
  }

  sizes(): Uint32Array {
    return this.#sizes.subarray(0, this.#count)
  }

  /** How long each picture is shown; the last one until the end of the recording. */
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
