// A control that the walk found.

export interface Found {
  readonly element: Element
  readonly name: string
  readonly isField: boolean
  /** Recognised only by its behaviour, such as the cursor. */
  readonly isWeak: boolean
  readonly isShown: boolean
  readonly rect: DOMRect
  readonly region: string
  readonly isInDialog: boolean
  readonly near: string
  readonly label: string
  text: string
}

export interface Heading {
  readonly element: Element
  readonly text: string
}
