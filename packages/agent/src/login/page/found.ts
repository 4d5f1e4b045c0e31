// A control that the walk came upon, before it is said what it is.

export interface Found {
  readonly element: Element
  readonly name: string
  readonly isField: boolean
  /** Only by how it behaves, such as the cursor over it. */
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
