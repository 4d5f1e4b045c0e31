// The sound of one recording. While all is silent nothing is encoded and nothing recorded: the server fills the gaps with
// silence. So each run of the encoder has a time of its own, and sound cannot drift away from the pictures.
import { durationOf, type SoundOutput, type SoundPiece } from '../../sound/sound-output.ts'
import { AacEncoder } from './aac-encoder.ts'

/** A pause that is shorter is encoded with the sound around it. */
const PAUSE_MS = 3_000
/** Encoders of runs that are over and not yet done; then sound is left out. */
const MAX_ENDING = 3
/** Sound that is so far from where it should be starts a new run. */
const MAX_SHIFT_MS = 40

export interface SoundTrackOptions {
  readonly output: SoundOutput
  /** When the recording began, by performance.now(). */
  readonly startedAt: number
  readonly onFrame: (timeMs: number, frame: Buffer) => void
}

interface Run {
  readonly encoder: AacEncoder
  /** Where the next sound of this run belongs. */
  nextMs: number
  soundAtMs: number
}

export class SoundTrack {
  readonly #options: SoundTrackOptions
  readonly #listening: Disposable
  readonly #ending = new Set<Promise<void>>()
  #run: Run | undefined

  constructor(options: SoundTrackOptions) {
    this.#options = options
    this.#listening = options.output.listen((piece) => this.#take(piece))
  }

  /** Resolves when all sound up to now is encoded. */
  async end(): Promise<void> {
    this.#listening[Symbol.dispose]()
    this.#endRun()
    await Promise.all(this.#ending)
  }

  #take({ samples, at, isSilent }: SoundPiece): void {
    const timeMs = at - this.#options.startedAt
    const run = this.#run
    const isOff = run && (run.encoder.isOver || Math.abs(run.nextMs - timeMs) > MAX_SHIFT_MS)
    if (run && (isOff || (isSilent && timeMs - run.soundAtMs > PAUSE_MS))) this.#endRun()
    if (isSilent && !this.#run) return
    // What was played before the first picture.
    if (timeMs < 0 || (!this.#run && this.#ending.size >= MAX_ENDING)) return
    this.#run ??= this.#begin(timeMs)
    const now = this.#run
    if (!now.encoder.write(samples)) return this.#endRun()
    now.nextMs += durationOf(samples.length)
    if (!isSilent) now.soundAtMs = now.nextMs
  }

  #begin(startMs: number): Run {
    const encoder = new AacEncoder({ startMs, onFrame: this.#options.onFrame })
    return { encoder, nextMs: startMs, soundAtMs: startMs }
  }

  #endRun(): void {
    const ending = this.#run?.encoder.end()
    this.#run = undefined
    if (!ending) return
    this.#ending.add(ending)
    void ending.then(() => this.#ending.delete(ending))
  }
}
