// One recording: takes a picture whenever the screen changes, up to the requested rate, and encodes it into
// records. While nothing changes, only an occasional clock record is written.
import {
  MAX_SOUND_FRAME_BYTES,
  type recordKinds,
  type RecordingEnd,
  type RecordingMarker,
  type RecordingStart,
} from '@berth/contracts/recording'
import type { Chromium } from '../chromium/chromium.ts'
import type { Size } from '../cdp/headless-size.ts'
import { log } from '../log/log.ts'
import { pause } from '@berth/kit/pause'
import { Encoder } from './pictures/encoder.ts'
import { Markers } from './markers.ts'
import { openPage } from './page/page-source.ts'
import type { PictureSource } from './pictures/picture-source.ts'
import { RecordQueue } from './record-queue.ts'
import type { Screens } from './screen/screens.ts'
import type { SoundOutput } from '../sound/sound-output.ts'
import { SoundTrack } from './sound/sound-track.ts'

/** Interval of clock records while nothing changes. */
const CLOCK_MS = 2_000
/** Restarts of the source and the encoder per recording; limits a session that keeps killing them. */
const MAX_RESTARTS = 5
const RESTART_MS = 500
/** Who starts a recording waits for its first picture so long. On a busy host an encoder may take longer to start. */
const PATIENCE_MS = 5_000
/** A recording without a picture has failed by then. */
const FIRST_PICTURE_MS = 60_000
const KEY_FRAME_EVERY_SECONDS = 10
const BYTE = Buffer.from([1])

export interface RecordingOptions extends RecordingStart {
  readonly chromium: Chromium
  readonly screens: Screens
  readonly sound: SoundOutput
}

export class Recording {
  readonly #options: RecordingOptions
  readonly #queue = new RecordQueue({ onRoom: () => this.#onRoom() })
  readonly #intervalMs: number
  #startedAt = 0
  #source: PictureSource | undefined
  #encoder: Encoder | undefined
  #markers: Markers | undefined
  #sound: SoundTrack | undefined
  #setup: Buffer | undefined
  readonly #firstPicture = Promise.withResolvers<void>()
  #pictureTimer: NodeJS.Timeout | undefined
  #endTimer: NodeJS.Timeout | undefined
  #clock: NodeJS.Timeout | undefined
  #hasPicture = false
  #lastPictureAt = -Infinity
  /** Where in the recording the last picture is. */
  #lastPictureMs = -1
  #lastRecordMs = 0
  #isTaking = false
  #taking: Promise<void> = Promise.resolve()
  #wantsPicture = false
  /** Since when pictures have been skipped because nobody reads the records. */
  #fullSince: number | undefined
  #restarts = 0
  #ending: Promise<void> | undefined
  #isOver = false

  constructor(options: RecordingOptions) {
    this.#options = options
    // It may be rejected when nobody waits for it any more.
    this.#firstPicture.promise.catch(() => {})
    this.#intervalMs = 1000 / options.framerate
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves with the first picture, which starts the recording; if it is late, before it. */
  async start(): Promise<void> {
    const waited = new AbortController()
    try {
      await this.#open()
      this.#endTimer = setTimeout(() => void this.stop('failed'), FIRST_PICTURE_MS)
      this.#want()
      await Promise.race([this.#firstPicture.promise, pause(PATIENCE_MS, waited.signal)])
    } catch (error) {
      this.#isOver = true
      this.#close()
      this.#encoder?.kill()
      throw error
    } finally {
      waited.abort()
    }
  }

  /** Called with the first picture. */
  #begin(): void {
    const { maxMs, chromium, sound: output, hasSound } = this.#options
    const startedAt = performance.now()
    this.#startedAt = startedAt
    this.#hasPicture = true
    clearTimeout(this.#endTimer)
    this.#markers = new Markers(chromium, (marker) => this.#mark(marker))
    if (hasSound) {
      this.#sound = new SoundTrack({
        output,
        startedAt,
        onFrame: (timeMs, frame) => this.#addSound(timeMs, frame),
      })
    }
    this.#clock = setInterval(() => this.#tick(), CLOCK_MS)
    if (maxMs !== null) this.#endTimer = setTimeout(() => void this.stop('max_duration'), maxMs)
    this.#firstPicture.resolve()
  }

  records(after: number, signal: AbortSignal): Promise<Buffer[]> {
    return this.#queue.after(after, signal)
  }

  /** Resolves when the last record is written. The first reason wins. */
  stop(reason: RecordingEnd): Promise<void> {
    return (this.#ending ??= this.#stop(reason))
  }

  async #stop(reason: RecordingEnd): Promise<void> {
    const { maxMs } = this.#options
    const endMs = reason === 'max_duration' && maxMs !== null ? maxMs : Math.round(this.#now())
    clearTimeout(this.#pictureTimer)
    if (!this.#hasPicture) {
      this.#firstPicture.reject(new Error('the session shows no picture'))
      // There is nothing to encode, and it may be long until it would take the first picture.
      this.#encoder?.kill()
    }
    // The last change, which was still waiting for its turn.
    await this.#taking.catch(() => {})
    if (reason !== 'failed' && this.#hasPicture) await this.#takePicture().catch(() => {})
    this.#isOver = true
    this.#close()
    await Promise.all([this.#encoder?.end(), this.#sound?.end()])
    this.#tellGap()
    this.#queue.add('end', Math.max(endMs, this.#lastRecordMs), Buffer.from(reason))
  }

  #close(): void {
    clearTimeout(this.#pictureTimer)
    clearTimeout(this.#endTimer)
    clearInterval(this.#clock)
    this.#markers?.close()
    this.#source?.[Symbol.dispose]()
    this.#source = undefined
  }

  async #open(): Promise<void> {
    const { chromium, screens, framerate } = this.#options
    const events = { onChange: () => this.#want(), onLost: () => this.#restart('its pictures') }
    const source = chromium.looks!.headless
      ? await openPage(chromium, events)
      : await screens.open(events, { hasPointer: true })
    if (this.#isOver) return source[Symbol.dispose]()
    this.#source = source
    const encoder = new Encoder({
      ...source,
      framerate,
      keyFrameEverySeconds: KEY_FRAME_EVERY_SECONDS,
      onSetup: (record) => this.#onSetup(record, source.size),
      onPicture: ({ timeMs, unit, isKey }) => {
        this.#add('sample', timeMs, isKey ? BYTE : Buffer.alloc(1), unit)
      },
    })
    this.#encoder = encoder
    void encoder.ended.then(() => this.#onEncoderEnd(encoder))
  }

  #onEncoderEnd(encoder: Encoder): void {
    if (this.#encoder === encoder && !this.#ending) this.#restart(`its encoder: ${encoder.recentOutput}`)
  }

  #now(): number {
    return this.#hasPicture ? performance.now() - this.#startedAt : 0
  }

  /** Of a picture. It comes after all earlier ones. */
  #timeOf(shownAt = performance.now()): number {
    const time = this.#hasPicture ? shownAt - this.#startedAt : 0
    return (this.#lastPictureMs = Math.max(this.#lastPictureMs + 1, time))
  }

  #add(kind: Exclude<keyof typeof recordKinds, 'end'>, timeMs: number, ...content: Buffer[]): void {
    const time = Math.max(0, Math.round(timeMs))
    this.#lastRecordMs = Math.max(this.#lastRecordMs, time)
    this.#queue.add(kind, time, ...content)
  }

  /** What is left out is silent. */
  #addSound(timeMs: number, frame: Buffer): void {
    const { maxMs } = this.#options
    if (this.#queue.isFull || timeMs > (maxMs ?? Infinity)) return
    if (frame.length <= MAX_SOUND_FRAME_BYTES) this.#add('sound', timeMs, frame)
  }

  #onSetup(record: Buffer, { width, height }: Size): void {
    if (this.#setup?.equals(record)) return
    this.#setup = Buffer.from(record)
    const size = Buffer.alloc(4)
    size.writeUInt16BE(width, 0)
    size.writeUInt16BE(height, 2)
    this.#add('config', 0, size, this.#setup)
  }

  #mark(marker: RecordingMarker): void {
    if (!this.#queue.isFull) this.#add('marker', this.#now(), Buffer.from(JSON.stringify(marker)))
  }

  #tick(): void {
    if (this.#now() - this.#lastRecordMs >= CLOCK_MS && !this.#isTaking) this.#add('time', this.#now())
  }

  /** Takes a picture, at once or when the frame rate allows it. */
  #want(): void {
    this.#wantsPicture = true
    if (this.#isTaking || this.#pictureTimer || this.#ending) return
    if (this.#queue.isFull) {
      this.#fullSince ??= this.#now()
      return
    }
    const wait = Math.max(0, this.#lastPictureAt + this.#intervalMs - performance.now())
    this.#pictureTimer = setTimeout(() => {
      this.#pictureTimer = undefined
      void this.#takePicture().catch((error: unknown) => log('Cannot take a picture for a recording', error))
    }, wait)
  }

  #takePicture(): Promise<void> {
    return (this.#taking = this.#take())
  }

  async #take(): Promise<void> {
    const [source, encoder] = [this.#source, this.#encoder]
    if (!source || !encoder) return
    this.#isTaking = true
    this.#wantsPicture = false
    try {
      // Keeps the rhythm: a late picture must not delay all others. After a long delay, the rhythm starts again.
      const now = performance.now()
      const beat = this.#lastPictureAt + this.#intervalMs
      this.#lastPictureAt = now - beat < this.#intervalMs ? beat : now
      const newShare = await source.take(async (picture, shownAt) => {
        const isTaken = await encoder.write(this.#timeOf(shownAt), picture)
        // The recording begins when the encoder has taken the first picture, some time after its start.
        if (isTaken && !this.#hasPicture && !this.#ending && !this.#isOver) this.#begin()
      })
      if (newShare === 0) this.#lastPictureAt = -Infinity
    } finally {
      this.#isTaking = false
      if (this.#wantsPicture) this.#want()
    }
  }

  #onRoom(): void {
    this.#tellGap()
    if (this.#wantsPicture) this.#want()
  }

  #tellGap(): void {
    if (this.#fullSince === undefined) return
    const lost = Buffer.alloc(4)
    lost.writeUInt32BE(Math.max(0, Math.round(this.#now() - this.#fullSince)))
    this.#fullSince = undefined
    this.#add('gap', this.#now(), lost)
  }

  /** Handles a restart of the display or Chromium, or a killed encoder. */
  #restart(what: string): void {
    if (this.#ending || this.#isOver) return
    log(`A recording lost ${what}`)
    this.#source?.[Symbol.dispose]()
    this.#source = undefined
    const encoder = this.#encoder
    this.#encoder = undefined
    if (this.#restarts++ >= MAX_RESTARTS) return void this.stop('failed')
    const open = async () => {
      await encoder?.end()
      if (this.#ending) return
      await this.#open()
      this.#want()
    }
    setTimeout(() => {
      open().catch((error: unknown) => {
        log('Cannot continue a recording', error)
        this.#restart('it again')
      })
    }, RESTART_MS)
  }
}
