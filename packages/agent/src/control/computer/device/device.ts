// The basic steps of mouse, keyboard, screen and clipboard that both a display and a headless browser support.
// actions/ combines them into the operations of the API.
import type { Region } from '@berth/contracts/computer'
import type { Size } from '../../../cdp/headless-size.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

export type Button = 'left' | 'middle' | 'right' | 'back' | 'forward'

/** Steps run in order. Those that return nothing start with `flush` at the latest. */
export interface Device {
  /** Call before each action, because the previous one may have changed the target. */
  begin(): Promise<void>
  flush(): void
  /** Resolves when all steps are done, or are certain to run before any later step. */
  done(): Promise<void>

  /** The screen's size; known after `begin`. */
  readonly size: Size
  position(): Promise<Point>
  moveTo(point: Point): void
  press(button: Button): void
  release(button: Button): void
  /** One tick of the wheel. */
  turnWheel(direction: 'up' | 'down' | 'left' | 'right'): void

  /** Makes sure that each of these keysyms can be pressed. */
  provideKeys(keysyms: readonly number[]): Promise<void>
  pressKey(keysym: number): void
  releaseKey(keysym: number): void
  /** Presses and releases each key; waits for `between` after each but the last. */
  type(keysyms: readonly number[], options: TypeOptions): Promise<void>

  /** A PNG. */
  capture(region: Region): Promise<Buffer>
  setCursorHidden(isHidden: boolean): Promise<void>
  readClipboard(): Promise<string>
  writeClipboard(text: string): Promise<void>
}

export interface TypeOptions {
  readonly between?: (() => Promise<void>) | undefined
  readonly signal: AbortSignal
}
