// One run of ffmpeg, which encodes sound without a gap as AAC.
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { AdtsReader } from '@berth/codecs/audio/adts'
import { SOUND_FRAME_SAMPLES } from '@berth/contracts/recording'
import { soundFormat } from '../../sound/command.ts'
import { spawnAsUser } from '../../user/user.ts'
import { ENCODER } from '../pictures/encoder.ts'

/** Sound of five seconds. An encoder that is further behind is not worth waiting for. */
const MAX_WAITING_BYTES = 5 * soundFormat.rate * soundFormat.channels * 2
const END_MS = 5_000
const BITS_PER_SECOND = 96_000
/** The first frame has nothing yet: an encoder of AAC is a frame late. */
const PRIMING_FRAMES = 1

export class AacEncoder {
  readonly #child: ChildProcess
  readonly #input: Socket
  #frames = 0
  #isOver = false
  readonly ended: Promise<void>

  /** `startMs`: when the sound begins. `onFrame` gets the time of each frame. */
  constructor({ startMs, onFrame }: { startMs: number; onFrame: (timeMs: number, frame: Buffer) => void }) {
    this.#child = spawnAsUser(ENCODER, ARGUMENTS, {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: '/usr/bin:/bin' },
    })
    this.#input = this.#child.stdin as Socket
    this.#input.on('error', () => {})
    const reader = new AdtsReader()
    this.#child.stdout!.on('data', (chunk: Buffer) => {
      let frames: Buffer[]
      try {
        frames = reader.take(chunk)
      } catch {
        return this.kill()
      }
      for (const frame of frames) {
        const number = this.#frames++ - PRIMING_FRAMES
        if (number >= 0) onFrame(startMs + (number * SOUND_FRAME_SAMPLES * 1000) / soundFormat.rate, frame)
      }
    })
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.#isOver = true
        resolve()
      }
      this.#child.once('error', end)
      this.#child.once('close', end)
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** False when it is too far behind. */
  write(samples: Buffer): boolean {
    if (this.#isOver || this.#input.writableLength > MAX_WAITING_BYTES) return false
    this.#input.write(samples)
    return true
  }

  /** Resolves when all sound is encoded. */
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

const ARGUMENTS = [
  ...'-v error -nostdin -probesize 32 -analyzeduration 0'.split(' '),
  ...`-f s16le -ar ${soundFormat.rate} -ac ${soundFormat.channels} -i pipe:0`.split(' '),
  ...`-c:a aac -b:a ${BITS_PER_SECOND} -f adts -flush_packets 1 pipe:1`.split(' '),
]
