// Tools for the collector.
import type { Bounds } from '../page-types.ts'

export type { Bounds, Collected } from '../page-types.ts'

export interface Tools {
  readonly bounds: Bounds
  /** Always the same ref for an element, as long as the document exists. */
  readonly refOf: (element: Element) => string
  /** Open and closed shadow roots; element.shadowRoot only returns open ones. */
  readonly shadowRootOf: (element: Element) => ShadowRoot | null
}
