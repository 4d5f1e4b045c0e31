import type { Size } from '../../cdp/headless-size.ts'

/** Where the pictures of a recording come from. */
export interface PictureSource extends Disposable {
  /** Width and height are even. */
  readonly size: Size
  /** Encoder options for reading the pictures. */
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
  /** No more pictures will come; open another source to continue. */
  readonly onLost: () => void
}

/** Encoders store one colour per four pixels. */
export const evenSize = ({ width, height }: Size): Size => ({ width: width & ~1, height: height & ~1 })
