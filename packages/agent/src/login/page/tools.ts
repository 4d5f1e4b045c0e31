// Between what is seen of a document (collector.ts) and what it is seen for.
import type { ElementSight, FrameSight } from '@berth/contracts/login-sight'

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

export interface Tools {
  readonly bounds: Bounds
  /** The same one for the same element, as long as the document lives. */
  readonly refOf: (element: Element) => string
  /** Open or closed. Not element.shadowRoot, which has only open ones. */
  readonly shadowRootOf: (element: Element) => ShadowRoot | null
}

/** What is seen of one document. Boxes are in its own viewport; the frame's place in the window is added later. */
export interface Collected {
  readonly frame: Omit<FrameSight, 'url' | 'origin' | 'parent' | 'is_visible'>
  /** The visible ones first, if there are more than fit. */
  readonly elements: readonly Omit<ElementSight, 'frame'>[]
}
