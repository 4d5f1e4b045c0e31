// Puts frames of sound in their places, so that they follow each other without a gap: where none came, there are silent
// ones. Players stop keeping sound and pictures together where a track has a hole.

/** AAC-LC with two channels, 44,100 samples a second: SamplingFrequencyIndex 4 (ISO 14496-3). */
export const soundFormat = { rate: 44_100, channels: 2, frameSamples: 1024, setup: Buffer.from([0x12, 0x10]) }
const FRAMES_PER_MS = soundFormat.rate / soundFormat.frameSamples / 1000
/** A frame in which nothing is heard. */
export const silentFrame: Buffer = Buffer.from([0x21, 0x10, 0x04, 0x60, 0x8c, 0x1c])
/** How far the first frame of a run may be from its time, in frames of 23 ms, and how far it may get while the run lasts. */
const TOLERANCE = { first: 0.5, next: 1.25 }
/** Frames of a run have times a frame apart, rounded. */
const MAX_STEP_FRAMES = 1.5

export class SoundTimeline {
  readonly #maxFrames: number
  #count = 0
  #lastMs = -Infinity
  /** Whether the run has begun, and is where it belongs. */
  #isPlaced = false

  constructor({ maxFrames }: { maxFrames: number }) {
    this.#maxFrames = maxFrames
  }

  /** How many silent frames come before this one, and whether it is used at all. */
  take(timeMs: number): { silent: number; isUsed: boolean } {
    const step = (timeMs - this.#lastMs) * FRAMES_PER_MS
    this.#lastMs = timeMs
    if (step < 0 || step > MAX_STEP_FRAMES) this.#isPlaced = false
    const tolerance = this.#isPlaced ? TOLERANCE.next : TOLERANCE.first
    const behind = timeMs * FRAMES_PER_MS - this.#count
    const silent = Math.min(behind > tolerance ? Math.round(behind) : 0, this.#maxFrames - this.#count)
    this.#count += silent
    const isUsed = behind >= -tolerance && this.#count < this.#maxFrames
    if (isUsed) {
      this.#count++
      this.#isPlaced = true
    }
    return { silent, isUsed }
  }

  /** How many silent frames are left until the end. */
  end(endMs: number): number {
    const silent = Math.floor(endMs * FRAMES_PER_MS) - this.#count
    return Math.max(0, Math.min(silent, this.#maxFrames - this.#count))
  }
}
