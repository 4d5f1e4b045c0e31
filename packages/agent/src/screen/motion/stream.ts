// One run of the encoder: it encodes pictures of the screen as they change, while a viewer wants them. It starts only
// when the display itself confirms that much moves, because an X server also sends unchanged areas again to make them
// sharp. Until then no picture is taken: viewers still get updates from the X server, and doing both would cost most.
import type { Size } from '../../cdp/headless-size.ts'
import { Encoder } from '../../recording/pictures/encoder.ts'
import type { ScreenSource, Screens } from '../../recording/screen/screens.ts'
import { markUnits, setupUnits } from '@berth/codecs/video/annex-b'

const FRAMERATE = 30
/** A new viewer waits for the next key frame. */
const KEY_FRAME_EVERY_SECONDS = 4
/**
 * The encoder starts after this many changes of this size within this time. For rarer changes, RFB costs no more and is
 * faster.
 */
const PROOF = { share: 0.05, changes: 6, withinMs: 600 }

export interface MotionPicture {
  readonly size: Size
  readonly bytes: Buffer
  readonly isKey: boolean
}

export interface MotionEvents {
  readonly isWanted: () => boolean
  readonly onPicture: (picture: MotionPicture) => void
  readonly onMoved: (share: number) => void
  readonly onStill: () => void
  readonly onFailed: (why: unknown) => void
}

export class MotionStream {
  readonly #events: MotionEvents
  readonly #opened: Promise<void>
  #source: ScreenSource | undefined
  #proofTimer: NodeJS.Timeout | undefined
  #changes = 0
  #encoder: Encoder | undefined
  #setup: Buffer = Buffer.alloc(0)
  #lastTakenAt = -Infinity
  #isTaking = false
  #mayHaveChanged = true
  #isOver = false
  #timer: NodeJS.Timeout | undefined

  constructor(screens: Screens, events: MotionEvents) {
    this.#events = events
    this.#opened = this.#open(screens)
    this.#opened.catch((error: unknown) => this.#fail(error))
  }

  /** Takes the next picture at its time, if the screen may have changed and a viewer wants it. */
  want(): void {
    if (!this.#mayHaveChanged || this.#isTaking || this.#timer || this.#isOver) return
    if (!this.#events.isWanted()) return
    // One change comes in several parts. Without the wait, it would count twice.
    const from = this.#encoder ? this.#lastTakenAt : performance.now()
    const wait = Math.max(0, from + 1000 / FRAMERATE - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#take().catch((error: unknown) => this.#fail(error))
    }, wait)
  }

  close(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    clearTimeout(this.#proofTimer)
    this.#source?.[Symbol.dispose]()
    this.#encoder?.kill()
  }

  async #open(screens: Screens): Promise<void> {
    const source = await screens.open(
      {
        onChange: () => {
          this.#mayHaveChanged = true
          this.want()
        },
        onLost: () => this.#fail('the display is gone'),
      },
      // Viewers see their own pointer.
      { hasPointer: false },
    )
    if (this.#isOver) return source[Symbol.dispose]()
    this.#source = source
    this.#proofTimer = setTimeout(() => this.#isOver || this.#events.onStill(), PROOF.withinMs)
  }

  #encode({ size, input }: ScreenSource): Encoder {
    const encoder = new Encoder({
      size,
      framerate: FRAMERATE,
      keyFrameEverySeconds: KEY_FRAME_EVERY_SECONDS,
      input,
      onSetup: (record) => (this.#setup = setupUnits(record)),
      onPicture: ({ unit, isKey }) => {
        const bytes = isKey ? Buffer.concat([this.#setup, markUnits(unit)]) : markUnits(unit)
        if (!this.#isOver) this.#events.onPicture({ size, bytes, isKey })
      },
    })
    void encoder.ended.then(() => this.#fail(encoder.recentOutput))
    return encoder
  }

  async #take(): Promise<void> {
    this.#isTaking = true
    try {
      await this.#opened
      if (this.#isOver) return
      this.#lastTakenAt = performance.now()
      this.#mayHaveChanged = false
      const [source, encoder] = [this.#source!, this.#encoder]
      if (!encoder) this.#prove(await source.look())
      else {
        const share = await source.take(async (picture) => void (await encoder.write(0, picture)))
        if (share > 0 && !this.#isOver) this.#events.onMoved(share)
      }
    } finally {
      this.#isTaking = false
    }
    this.want()
  }

  #prove(share: number): void {
    // The first look reports the whole screen, whether it changed or not.
    if (this.#isOver || share < PROOF.share || this.#changes++ < PROOF.changes) return
    clearTimeout(this.#proofTimer)
    this.#encoder = this.#encode(this.#source!)
    this.#mayHaveChanged = true
  }

  #fail(why: unknown): void {
    if (!this.#isOver) this.#events.onFailed(why)
  }
}
