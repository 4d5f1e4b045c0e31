import { PngEncoder, type Picture } from '@berth/codecs/png/encoder'

/** Screenshots often come in series. Shorter than the idle time before standby, so that a session in standby holds no memory for this. */
const KEPT_MS = 3_000

/** Keeps one encoder for a while, because allocating its memory costs more than a picture. */
export class PngEncoders {
  #kept: { readonly encoder: PngEncoder; readonly timer: NodeJS.Timeout } | undefined

  async use<T>(picture: Picture, work: (encoder: PngEncoder) => Promise<T>): Promise<T> {
    const kept = this.#take()
    const encoder = kept?.hasRoomFor(picture) ? kept : await PngEncoder.open(picture)
    const result = await work(encoder)
    this.#keep(encoder)
    return result
  }

  #take(): PngEncoder | undefined {
    const kept = this.#kept
    this.#kept = undefined
    clearTimeout(kept?.timer)
    return kept?.encoder
  }

  #keep(encoder: PngEncoder): void {
    this.#take()
    const timer = setTimeout(() => (this.#kept = undefined), KEPT_MS).unref()
    this.#kept = { encoder, timer }
  }
}
