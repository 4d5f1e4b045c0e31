// What goes between the agent and its script inside a document (page/), as JSON.
import type { ElementSnapshot, FrameSnapshot } from '@berth/contracts/page-snapshot'

/** The most there may be of each, see the contract. What is more is left out, and what is longer is cut. */
export interface Bounds {
  readonly elements: number
  readonly groups: number
  readonly messages: number
  readonly headings: number
  readonly options: number
  readonly challenges: number
  /** Characters: of all text of a frame, of most texts, of an address, of a selector, of a group's and a message's text. */
  readonly text: number
  readonly short: number
  readonly url: number
  readonly selector: number
  readonly groupText: number
  readonly message: number
}

/** What is seen of one document. Boxes are in its own viewport; the frame's place in the window is added later. */
export interface Collected {
  readonly frame: Omit<FrameSnapshot, 'url' | 'origin' | 'parent' | 'is_visible'>
  /** The visible ones first, if there are more than fit. */
  readonly elements: readonly Omit<ElementSnapshot, 'frame'>[]
}

/** As far as an element can be used, in one word. */
export type Usability = 'usable' | 'gone' | 'hidden' | 'disabled' | 'read-only'

/** Where to click. */
export interface Aim {
  readonly x: number
  readonly y: number
  /** Something else is in front of it, there and everywhere. */
  readonly isCovered: boolean
}

/** How much is in a field, never what. */
export interface Held {
  readonly length: number
  /** Letters and digits only: fields with a mask add signs of their own. */
  readonly signs: number
}

/** Where the content of a frame begins in the document around it, and how much of it there is. */
export interface FrameBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly isShown: boolean
}

export interface Rest {
  /** Since the last change. */
  readonly stillMs: number
  readonly changes: number
  readonly isLoading: boolean
}

export interface Stored {
  readonly local: number
  readonly indexed: number
}
