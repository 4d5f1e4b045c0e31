// One run of ffmpeg, which encodes pictures as H.264. It outputs one for each input, in the same order and without delay.
// The times of the pictures are kept here; the encoder does not know them.
import type { ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Socket } from 'node:net'
import type { Size } from '../../cdp/headless-size.ts'
import { FlvReader } from '@berth/codecs/video/flv'
import { spawnAsUser } from '../../user/user.ts'

export const ENCODER = '/usr/bin/ffmpeg'
/**
 * The session has priority over its recording, but not over its start: on a busy host, a process with so low a priority
 * may take a minute to load its libraries.
 */
const NICE = 12
/** How long the encoder may take to finish. */
const END_MS = 5_000
const MAX_OUTPUT_CHARACTERS = 1_000

export interface EncoderOptions {
  readonly size: Size
  readonly framerate: number
  readonly keyFrameEverySeconds: number
  /** How ffmpeg is to read the pictures. */
  readonly input: readonly string[]
  /** The filter to apply before encoding. */
  readonly filter?: string
  readonly onSetup: (record: Buffer) => void
  readonly onPicture: (picture: { timeMs: number; unit: Buffer; isKey: boolean }) => void
}

export class Encoder {
  readonly #child: ChildProcess
  readonly #input: Socket
  /** Times of the pictures that are not encoded yet. */
  readonly #times: number[] = []
  #output = ''
  #isOver = false
  #hasMadeWay = false
  /** Resolves when it has ended, whatever the reason. */
  readonly ended: Promise<void>

  constructor(options: EncoderOptions) {
    this.#child = spawnAsUser(ENCODER, argumentsOf(options), {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: '/usr/bin:/bin' },
    })
    this.#input = this.#child.stdin as Socket
    this.#input.on('error', () => {})
    const reader = new FlvReader({
      onSetup: options.onSetup,
      onPicture: (unit, isKey) => {
        const timeMs = this.#times.shift()
        if (timeMs !== undefined) options.onPicture({ timeMs, unit, isKey })
      },
    })
    this.#child.stdout!.on('data', (chunk: Buffer) => reader.take(chunk))
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-MAX_OUTPUT_CHARACTERS)
    })
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#output += error.message
        this.#isOver = true
        resolve()
      })
      this.#child.once('close', () => {
        this.#isOver = true
        resolve()
      })
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The end of its output, for people. */
  get recentOutput(): string {
    return this.#output.trim()
  }

  /** Resolves when its memory may be used again: to true when the picture has been read, to false when nobody will. */
  async write(timeMs: number, picture: Buffer): Promise<boolean> {
    this.#times.push(timeMs)
    // The callback always runs, even when the encoder is gone.
    const isRead = await new Promise<boolean>(
      (resolve) => void this.#input.write(picture, (error) => resolve(!error)),
    )
    if (isRead) this.#makeWay()
    return isRead
  }

  /** Once it has started. */
  #makeWay(): void {
    const { pid } = this.#child
    if (this.#hasMadeWay || this.#isOver || pid === undefined) return
    this.#hasMadeWay = true
    try {
      setPriority(pid, NICE)
    } catch (error) {
      // It has just ended.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error
    }
  }

  /** Resolves when all pictures are encoded. */
  async end(): Promise<void> {
    this.#input.end()
    const timer = setTimeout(() => this.kill(), END_MS)
    await this.ended
    clearTimeout(timer)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

/**
 * x264 prefetches memory, which takes a quarter of its time on ARM; without it the output is the same. In the x264 of
 * Debian 12, naming this extension enables all the others.
 */
const PROCESSOR = process.arch === 'arm64' ? ['-x264-params', 'asm=NEON'] : []

function argumentsOf({ framerate, keyFrameEverySeconds, input, filter }: EncoderOptions): string[] {
  const colours = '-color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709'
  // Pictures are taken only on changes. Counting them gives regular key frames where there is movement, which is where
  // people seek.
  const video = `-c:v libx264 -preset ultrafast -tune zerolatency -threads 1 -crf 23 -g ${framerate * keyFrameEverySeconds}`
  return [
    ...'-v error -nostdin -probesize 32 -fpsprobesize 0 -analyzeduration 0'.split(' '),
    ...input,
    '-i',
    'pipe:0',
    ...'-an -fps_mode passthrough'.split(' '),
    ...(filter ? ['-vf', filter] : []),
    '-pix_fmt',
    'yuv420p',
    ...colours.split(' '),
    ...video.split(' '),
    ...PROCESSOR,
    ...'-f flv -flvflags no_duration_filesize+no_metadata+no_sequence_end -flush_packets 1 pipe:1'.split(' '),
  ]
}
