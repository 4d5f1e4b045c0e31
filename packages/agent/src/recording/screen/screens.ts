// Recordings and viewers share one Screen. It exists as long as somebody uses it.
import type { Display } from '../../display/display.ts'
import type { PictureSource, SourceEvents } from '../pictures/picture-source.ts'
import { Screen } from './screen.ts'

export interface ScreenSource extends PictureSource {
  /** The share of the screen that changed since the last call; 1 is all of it. Takes no picture, so it is cheap. */
  look(): Promise<number>
}

interface Shared {
  readonly screen: Promise<Screen>
  readonly onLost: Set<() => void>
  users: number
}

const known = new WeakMap<Display, Screens>()

export class Screens {
  readonly #display: Display
  #shared: Shared | undefined

  private constructor(display: Display) {
    this.#display = display
  }

  static of(display: Display): Screens {
    const screens = known.get(display) ?? new Screens(display)
    known.set(display, screens)
    return screens
  }

  async open(
    { onChange, onLost }: SourceEvents,
    { hasPointer }: { hasPointer: boolean },
  ): Promise<ScreenSource> {
    const shared = (this.#shared ??= this.#share())
    shared.users++
    using acquired = new DisposableStack()
    acquired.defer(() => this.#leave(shared))
    shared.onLost.add(onLost)
    acquired.defer(() => shared.onLost.delete(onLost))
    const screen = await shared.screen
    acquired.use(screen.onChange(onChange))
    const held = acquired.move()
    let [version, lookedAt] = [0, 0]
    const { width, height } = screen.size
    return {
      size: screen.size,
      input: ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-video_size', `${width}x${height}`],
      look: async () => {
        const seen = await screen.look()
        const isNew = seen.version !== lookedAt
        lookedAt = seen.version
        return isNew ? seen.share : 0
      },
      take: async (work) => {
        const used = await screen.use({ known: version, hasPointer, work })
        const isNew = used.version !== version
        version = used.version
        return isNew ? used.share : 0
      },
      [Symbol.dispose]: () => held.dispose(),
    }
  }

  #share(): Shared {
    const onLost = new Set<() => void>()
    const lost = () => {
      if (this.#shared === shared) this.#shared = undefined
      for (const tell of onLost) tell()
    }
    const screen = this.#display.openConnection(lost).then((x) => Screen.open(x))
    // Whoever waits for it gets the error.
    screen.catch(() => lost())
    const shared: Shared = { screen, onLost, users: 0 }
    return shared
  }

  #leave(shared: Shared): void {
    shared.users--
    if (shared.users > 0) return
    if (this.#shared === shared) this.#shared = undefined
    shared.onLost.clear()
    void shared.screen.then((screen) => screen.close()).catch(() => {})
  }
}
