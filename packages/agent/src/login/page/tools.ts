// What the collector is given.
import type { Bounds } from '../page-types.ts'

export type { Bounds, Collected } from '../page-types.ts'

export interface Tools {
  readonly bounds: Bounds
  /** The same one for the same element, as long as the document lives. */
  readonly refOf: (element: Element) => string
  /** Open or closed. Not element.shadowRoot, which has only open ones. */
  readonly shadowRootOf: (element: Element) => ShadowRoot | null
}
