// Data that the agent exchanges with its script inside a document (page/), as JSON.
import type { ElementSnapshot, FrameSnapshot } from '@berth/contracts/page-snapshot'

/** Limits from the contract. Surplus items are left out, and long texts are cut. */
export interface Bounds {
  readonly elements: number
  readonly groups: number
  readonly messages: number
  readonly headings: number
  readonly options: number
  readonly challenges: number
  /** The following limits are in characters. */
  readonly text: number
  readonly short: number
  readonly url: number
  readonly selector: number
  readonly groupText: number
  readonly message: number
}

/** The content of one document. Boxes are relative to its viewport; the agent adds the frame's position later. */
export interface Collected {
  readonly frame: Omit<FrameSnapshot, 'url' | 'origin' | 'parent' | 'is_visible'>
  /** If there are too many, visible elements are kept first. */
  readonly elements: readonly Omit<ElementSnapshot, 'frame'>[]
}

/** Whether an element can be used, or why not. */
export type Usability = 'usable' | 'gone' | 'hidden' | 'disabled' | 'read-only'

/** Where to click. */
export interface Aim {
  readonly x: number
  readonly y: number
  /** Other elements cover every point of it. */
  readonly isCovered: boolean
}

/** The length of a field's value, never the value. */
export interface Held {
  readonly length: number
  /** Number of letters and digits, because fields with an input mask add other characters. */
  readonly signs: number
}

/** Position and size of a frame's content in its parent document. */
export interface FrameBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly isShown: boolean
}

export interface Rest {
  /** Time since the last change. */
  readonly stillMs: number
  readonly changes: number
  readonly isLoading: boolean
}

export interface Stored {
  readonly local: number
  readonly indexed: number
}

/** What took the token of a captcha. */
export interface Solved {
  readonly fields: number
  /** Functions of the page that want the token, by name. */
  readonly callbacks: readonly string[]
}
