import type { Size } from '../chromium/headless-size.ts'

/** Where the pictures of a recording come from. */
export interface PictureSource extends Disposable {
  /** Even, both of them. */
  readonly size: Size
  /** How the encoder is to read them. */
  readonly input: readonly string[]
  readonly filter?: string
  /**
   * Hands over the picture as it is now, unless it is the one that was handed over last, and waits for the work
   * with it. Resolves with how much of it was looked at anew: 0 if there was nothing new, 1 for all of it.
   */
  take(work: (picture: Buffer) => Promise<void>): Promise<number>
}

export interface SourceEvents {
  /** There may be another picture. */
  readonly onChange: () => void
  /** There will be none any more; whoever wants more opens another. */
  readonly onLost: () => void
}

/** Encoders take one colour for four pixels. */
export const evenSize = ({ width, height }: Size): Size => ({ width: width & ~1, height: height & ~1 })
