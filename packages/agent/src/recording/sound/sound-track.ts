// The sound of one recording. While all is silent nothing is encoded and nothing recorded: the server fills the gaps with
// silence. So each run of the encoder has a time of its own, and sound cannot drift away from the pictures. Within a run, a gap is
// filled: starting an encoder takes long on a busy machine.
import { bytesOf, durationOf, type SoundOutput, type SoundPiece } from '../../sound/sound-output.ts'
import { AacEncoder } from './aac-encoder.ts'

/** A pause that is shorter is encoded with the sound around it. */
const PAUSE_MS = 3_000
/** Encoders of runs that are over and not yet done; then sound is left out. */
const MAX_ENDING = 3
/** Sound that is further from where it should be is moved. */
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
    const gapMs = run ? timeMs - run.nextMs : 0
    const isPause = run && Math.max(gapMs, isSilent ? timeMs - run.soundAtMs : 0) > PAUSE_MS
    if (isPause || run?.encoder.isOver) this.#endRun()
    if (isSilent && !this.#run) return
    // What was played before the first picture.
    if (timeMs < 0 || (!this.#run && this.#ending.size >= MAX_ENDING)) return
    this.#run ??= this.#begin(timeMs)
    this.#write(this.#run, { samples, gapMs: timeMs - this.#run.nextMs })
    if (this.#run && !isSilent) this.#run.soundAtMs = this.#run.nextMs
  }

  /** Fills a gap, and leaves out what there is already. */
  #write(run: Run, { samples, gapMs }: { samples: Buffer; gapMs: number }): void {
    const shift = Math.abs(gapMs) > MAX_SHIFT_MS ? bytesOf(gapMs) : 0
    const whole = shift > 0 ? Buffer.concat([Buffer.alloc(shift), samples]) : samples.subarray(-shift)
    if (whole.length === 0) return
    if (!run.encoder.write(whole)) return this.#endRun()
    run.nextMs += durationOf(whole.length)
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
