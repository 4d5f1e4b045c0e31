// The screen as H.264: one stream for all viewers that want video, as long as there are any.
import type { Display } from '../../display/display.ts'
import { log } from '../../log/log.ts'
import { Screens } from '../../recording/screen/screens.ts'
import { MotionStream, type MotionPicture } from './stream.ts'

export interface Audience {
  /** Whether it has as many unanswered pictures as it may have. */
  readonly isBehind: boolean
  show(picture: MotionPicture): void
  /** Reports the share of the screen that was new in a picture; 1 is the whole screen. */
  moved(share: number): void
  /** The video has ended, because nothing moves or because it failed. */
  over(why: 'still' | 'failed'): void
}

export class Motion {
  readonly #screens: Screens
  readonly #audience = new Set<Audience>()
  #stream: MotionStream | undefined

  constructor(display: Display) {
    this.#screens = Screens.of(display)
  }

  join(audience: Audience): void {
    this.#audience.add(audience)
    this.#stream ??= this.#open()
    this.#stream.want()
  }

  leave(audience: Audience): void {
    this.#audience.delete(audience)
    if (this.#audience.size === 0) this.end('still')
  }

  /** A viewer is ready for another picture. */
  wanted(): void {
    this.#stream?.want()
  }

  /** Ends the video for all viewers now. */
  end(why: 'still' | 'failed'): void {
    this.#stream?.close()
    this.#stream = undefined
    const audience = [...this.#audience]
    this.#audience.clear()
    for (const each of audience) each.over(why)
  }

  #open(): MotionStream {
    return new MotionStream(this.#screens, {
      isWanted: () => [...this.#audience].some(({ isBehind }) => !isBehind),
      onPicture: (picture) => {
        for (const each of this.#audience) each.show(picture)
      },
      onMoved: (share) => {
        for (const each of this.#audience) each.moved(share)
      },
      onStill: () => this.end('still'),
      onFailed: (why) => {
        log('The screen cannot be shown as video', why)
        this.end('failed')
      },
    })
  }
}
