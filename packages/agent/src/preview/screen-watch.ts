// Small pictures of the screen of a headful session. Recordings and viewers use the same copy of the screen, in which only
// what has changed is fetched.
import { encodeJpeg } from '@berth/codecs/jpeg/encoder'
import { shrink } from '@berth/codecs/jpeg/shrink'
import { unlessAborted } from '@berth/kit/abort'
import type { Size } from '../cdp/headless-size.ts'
import { evenSize } from '../recording/pictures/picture-source.ts'
import type { Screens, ScreenSource } from '../recording/screen/screens.ts'
import { QUALITY, type Look, type Watch } from './look.ts'

export class ScreenWatch implements Watch {
  readonly #screens: Screens
  readonly #width: number
  /** What the screen should have. */
  readonly #size: () => Size
  #opening: Promise<ScreenSource> | undefined
  #last: Look | undefined
  #isClosed = false

  constructor(screens: Screens, { width, size }: { width: number; size: () => Size }) {
    this.#screens = screens
    this.#width = width
    this.#size = size
  }

  async look(signal: AbortSignal): Promise<Look> {
    const source = await unlessAborted((this.#opening ??= this.#open()), signal)
    if (!isSame(source.size, evenSize(this.#size()))) {
      // The screen was resized; the next look opens it again.
      this.#opening = undefined
      source[Symbol.dispose]()
      throw new Error('The screen has another size now')
    }
    await unlessAborted(
      source.take((planes) => {
        const jpeg = encodeJpeg(shrink(planes, source.size, this.#width), QUALITY)
        // The change may be too small to be seen.
        if (!this.#last?.jpeg.equals(jpeg)) this.#last = { version: newVersion(), jpeg }
        return Promise.resolve()
      }),
      signal,
    )
    if (!this.#last) throw new Error('There is no picture of the screen yet')
    return this.#last
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    void this.#opening?.then((source) => source[Symbol.dispose]()).catch(() => {})
  }

  async #open(): Promise<ScreenSource> {
    const forget = () => (this.#opening = undefined)
    try {
      const source = await this.#screens.open({ onChange: () => {}, onLost: forget }, { hasPointer: false })
      if (this.#isClosed) source[Symbol.dispose]()
      return source
    } catch (error) {
      forget()
      throw error
    }
  }
}

const isSame = (one: Size, other: Size) => one.width === other.width && one.height === other.height

let versions = 0
const newVersion = () => `s${Date.now().toString(36)}-${versions++}`
