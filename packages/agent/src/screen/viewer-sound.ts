// What the session plays, for one viewer who asked for it. Pictures go first: a viewer with a slow line loses sound.
import type { Socket } from 'node:net'
import { soundHead, wantsSound } from '@berth/codecs/rfb/sound-messages'
import { durationOf, type SoundOutput, type SoundPiece } from '../sound/sound-output.ts'

/** Sound that waits for longer is dropped: it would be heard too late. */
const MAX_WAIT_MS = 100
/** What the line has not taken yet, pictures and sound. */
const MAX_UNSENT_BYTES = 64 * 1024

export class ViewerSound {
  readonly #link: Socket
  readonly #output: SoundOutput
  readonly #isBetween: () => boolean
  #listening: Disposable | undefined
  #waiting: Buffer[] = []
  #waitingMs = 0

  /** `isBetween`: whether the link is between two messages. */
  constructor(link: Socket, output: SoundOutput, isBetween: () => boolean) {
    this.#link = link
    this.#output = output
    this.#isBetween = isBetween
    link.once('close', () => this.#stop())
  }

  /** Whether the message was about sound. */
  hear(message: Buffer): boolean {
    const isWanted = wantsSound(message)
    if (isWanted === undefined) return false
    if (!isWanted || this.#link.destroyed) this.#stop()
    else this.#listening ??= this.#output.listen((piece) => this.#take(piece))
    return true
  }

  /** To be called when the link is between two messages. */
  send(): void {
    for (const samples of this.#waiting) {
      this.#link.cork()
      this.#link.write(soundHead(samples.length))
      this.#link.write(samples)
      this.#link.uncork()
    }
    this.#clear()
  }

  #take({ samples, isSilent }: SoundPiece): void {
    if (isSilent || this.#link.writableLength > MAX_UNSENT_BYTES) return
    if (this.#waitingMs > MAX_WAIT_MS) this.#clear()
    // A copy: it may wait, and the rest of what was read with it need not.
    this.#waiting.push(Buffer.from(samples))
    this.#waitingMs += durationOf(samples.length)
    if (this.#isBetween()) this.send()
  }

  #clear(): void {
    this.#waiting = []
    this.#waitingMs = 0
  }

  #stop(): void {
    this.#listening?.[Symbol.dispose]()
    this.#listening = undefined
    this.#clear()
  }
}
