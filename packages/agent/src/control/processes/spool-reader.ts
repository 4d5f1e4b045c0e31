// Reads a process's output from the start of the kept output to the end.
import { Readable } from 'node:stream'
import { outputFrames } from '@berth/contracts/link'
import { toFrame } from '@berth/codecs/frames/frames'
import type { Position, Spool } from './spool.ts'

export interface SpoolReaderOptions {
  readonly spool: Spool
  /** Called for the last event, once the spool has ended and all of it is read. */
  readonly lastEvent: () => object
}

export class SpoolReader extends Readable {
  readonly #options: SpoolReaderOptions
  readonly #position: Position = { number: 0, offset: 0, passed: 0 }
  #waiting: Disposable | undefined

  constructor(options: SpoolReaderOptions) {
    super({ highWaterMark: 0 })
    this.#options = options
  }

  override _read(): void {
    this.#next()
  }

  #next(): void {
    const { spool, lastEvent } = this.#options
    const piece = spool.next(this.#position)
    if (piece && 'frames' in piece) this.push(piece.frames)
    else if (piece) this.push(eventFrame({ event: 'cut', dropped_bytes: piece.droppedBytes }))
    else if (spool.isEnded) {
      this.push(eventFrame(lastEvent()))
      this.push(null)
    } else this.#waiting ??= spool.whenMore(() => this.#onMore())
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#waiting?.[Symbol.dispose]()
    done(error)
  }

  #onMore(): void {
    this.#waiting = undefined
    this.#next()
  }
}

const eventFrame = (event: object) => toFrame(outputFrames.event, Buffer.from(JSON.stringify(event)))
