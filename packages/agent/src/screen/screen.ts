// Serves the screen to viewers. The X server serves a display, and the agent serves a headless Chromium. Both
// speak RFB, so that viewers need not know which one it is.
import { connect, type Socket } from 'node:net'
import { pause } from '@berth/kit/pause'
import type { Chromium } from '../chromium/chromium.ts'
import { log } from '../log/log.ts'
import type { SoundOutput } from '../sound/sound-output.ts'
import type { watchDisplay } from './display-viewer.ts'
import type { watchHeadless } from './headless-viewer.ts'

/** How long a viewer waits while Chromium restarts. */
const WAIT_MS = 15_000
const RETRY_MS = 50

export interface ScreenOptions {
  readonly chromium: Chromium
  readonly sound: SoundOutput
  readonly loadHeadlessViewer: () => Promise<typeof watchHeadless>
  readonly loadDisplayViewer: () => Promise<typeof watchDisplay>
  /** Called with the number of viewers. */
  readonly onViewers: (count: number) => void
}

export class Screen {
  readonly #options: ScreenOptions
  #viewers = 0

  constructor(options: ScreenOptions) {
    this.#options = options
  }

  readonly accept = (link: Socket): void => {
    this.#count(1)
    link.once('close', () => this.#count(-1))
    link.on('error', () => {})
    this.#pass(link).catch((error: unknown) => {
      log('Cannot show the screen', error)
      link.destroy()
    })
  }

  #count(change: 1 | -1): void {
    this.#viewers += change
    this.#options.onViewers(this.#viewers)
  }

  async #pass(link: Socket): Promise<void> {
    const { chromium, sound, loadHeadlessViewer, loadDisplayViewer } = this.#options
    const deadline = performance.now() + WAIT_MS
    while (!link.destroyed) {
      const left = deadline - performance.now()
      const { browser } = await chromium.whenOpen(left)
      if (browser !== 'ready' || left <= 0) break
      if (chromium.looks!.headless) {
        const watch = await loadHeadlessViewer()
        return watch(link, { chromium, sound })
      }
      const display = await dial(chromium.display.rfbSocket)
      if (display) {
        const watch = await loadDisplayViewer()
        return watch(link, display, { display: chromium.display, sound })
      }
      // Chromium has ended; its exit event has not arrived yet.
      await pause(RETRY_MS)
    }
    link.destroy()
  }
}

async function dial(path: string): Promise<Socket | undefined> {
  const socket = connect(path)
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket))
    socket.on('error', () => resolve(undefined))
  })
}
