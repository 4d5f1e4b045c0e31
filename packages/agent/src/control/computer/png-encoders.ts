import { PngEncoder, type Picture } from '@berth/codecs/png/encoder'

/** Who looks at a screen looks again soon; who does not is not to keep the room. Less than sessions take to fall asleep. */
const KEPT_MS = 3_000

/** One encoder is kept for a while, as its room costs more than a picture. */
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
