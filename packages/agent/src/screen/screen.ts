// The screen for who watches it: that of a display as its X server shows it, that of a headless Chromium as
// this agent does. Both speak RFB, so that nobody beyond has to know which it is.
import { connect, type Socket } from 'node:net'
import { pause } from '@berth/kit/pause'
import type { Chromium } from '../chromium/chromium.ts'
import { log } from '../log.ts'
import { unpack } from '../packed.ts'

/** A viewer that comes while Chromium starts again waits for it, but not for ever. */
const WAIT_MS = 15_000
const RETRY_MS = 50

export interface ScreenOptions {
  readonly chromium: Chromium
  /** Told how many watch. */
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
    const { chromium } = this.#options
    const deadline = performance.now() + WAIT_MS
    while (!link.destroyed) {
      const left = deadline - performance.now()
      const { browser } = await chromium.whenOpen(left)
      if (browser !== 'ready' || left <= 0) break
      if (chromium.looks!.headless) {
        const { watchHeadless } = await unpack('computer')
        return watchHeadless(link, chromium)
      }
      const display = await dial(chromium.display.rfbSocket)
      if (display) {
        const { watchDisplay } = await unpack('recording')
        return watchDisplay(link, display, chromium.display)
      }
      // It has ended, and we are about to hear of it.
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
