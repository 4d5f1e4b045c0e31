// The screen as H.264, for all of its viewers for whom much moves: one stream for all of them, while there are any.
import type { Display } from '../../display/display.ts'
import { log } from '../../log/log.ts'
import { Screens } from '../../recording/screen/screens.ts'
import { MotionStream, type MotionPicture } from './stream.ts'

export interface Audience {
  /** It has not answered for as many pictures as it may have at once. */
  readonly isBehind: boolean
  show(picture: MotionPicture): void
  /** So much of the screen was new in a picture: 1 is all of it. */
  moved(share: number): void
  /** There will be no more, because nothing moves or because it cannot be. */
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

  /** Somebody who was behind is no longer. */
  wanted(): void {
    this.#stream?.want()
  }

  /** Now, for all who are still there. */
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
