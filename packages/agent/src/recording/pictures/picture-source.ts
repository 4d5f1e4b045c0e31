import type { Size } from '../../cdp/headless-size.ts'

/** Where the pictures of a recording come from. */
export interface PictureSource extends Disposable {
  /** Width and height are even. */
  readonly size: Size
  /** Encoder options for reading the pictures. */
  readonly input: readonly string[]
  readonly filter?: string
  /**
   * Calls `work` with the current picture, unless it was the last one that was passed, and waits for it. Resolves with
   * the share of the picture that is new: 0 for none, 1 for all. `shownAt`: when it was shown, by performance.now(), if
   * that was not just now.
   */
  take(work: (picture: Buffer, shownAt?: number) => Promise<void>): Promise<number>
}

export interface SourceEvents {
  /** There may be another picture. */
  readonly onChange: () => void
  /** No more pictures will come; open another source to continue. */
  readonly onLost: () => void
}

/** Encoders store one colour per four pixels. */
export const evenSize = ({ width, height }: Size): Size => ({ width: width & ~1, height: height & ~1 })
