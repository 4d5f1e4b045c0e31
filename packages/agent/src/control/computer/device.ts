// What mouse, keyboard, screen and clipboard are made of, in steps that a display and a headless browser
// both have. What people ask for is made of these in actions/.
import type { Region } from '@berth/contracts/computer'
import type { Size } from '../../chromium/headless-size.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

export type Button = 'left' | 'middle' | 'right' | 'back' | 'forward'

/** Steps are done in their order. Those that return nothing are begun at the latest by `flush`. */
export interface Device {
  /** Before each action, as what it acts on may have changed with the one before. */
  begin(): Promise<void>
  flush(): void
  /** Resolves when all steps are done, or are sure to be before anything that follows. */
  done(): Promise<void>

  /** Of the screen that points are on; known after `begin`. */
  readonly size: Size
  position(): Promise<Point>
  moveTo(point: Point): void
  press(button: Button): void
  release(button: Button): void
  /** One tick of the wheel. */
  turnWheel(direction: 'up' | 'down' | 'left' | 'right'): void

  /** So that each of these keysyms can be pressed. */
  provideKeys(keysyms: readonly number[]): Promise<void>
  pressKey(keysym: number): void
  releaseKey(keysym: number): void
  /** Each key pressed and released; `between` is waited for after each but the last. */
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
