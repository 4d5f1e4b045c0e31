// Safe access to nodes. A field named `parentElement` or `action` hides the form's property of that name, and a form named
// `body` hides the document's, in every world. So all reads use the prototype's own functions.

export const getter = <T extends object, K extends keyof T>(prototype: T, name: K) => {
  // SAFETY: every browser defines these getters on the prototype.
  const { get } = Object.getOwnPropertyDescriptor(prototype, name) as { get: (this: T) => T[K] }
  return (node: T): T[K] => get.call(node)
}

export const childNodesOf = getter(Node.prototype, 'childNodes')
export const parentNodeOf = getter(Node.prototype, 'parentNode')
export const localNameOf = getter(Element.prototype, 'localName')
export const attributesOf = getter(Element.prototype, 'attributes')
export const nextElementOf = getter(Element.prototype, 'nextElementSibling')
export const previousElementOf = getter(Element.prototype, 'previousElementSibling')
const slotOf = getter(Element.prototype, 'assignedSlot')
const labelsOfInput = getter(HTMLInputElement.prototype, 'labels')
const labelsOfSelect = getter(HTMLSelectElement.prototype, 'labels')
const labelsOfArea = getter(HTMLTextAreaElement.prototype, 'labels')
const formOfInput = getter(HTMLInputElement.prototype, 'form')
const formOfSelect = getter(HTMLSelectElement.prototype, 'form')
const formOfArea = getter(HTMLTextAreaElement.prototype, 'form')
const formOfButton = getter(HTMLButtonElement.prototype, 'form')
export const documentElementOf = getter(Document.prototype, 'documentElement')
export const titleOf = getter(Document.prototype, 'title')

const activeOfDocument = getter(Document.prototype, 'activeElement')
const activeOfShadow = getter(ShadowRoot.prototype, 'activeElement')

export const attributeOf = (element: Element, name: string) =>
  Element.prototype.getAttribute.call(element, name)
export const hasAttribute = (element: Element, name: string) =>
  Element.prototype.hasAttribute.call(element, name)
export const rectOf = (element: Element) => Element.prototype.getBoundingClientRect.call(element)
export const matches = (element: Element, selector: string) =>
  Element.prototype.matches.call(element, selector)
export const allWithin = (element: Element, selector: string) =>
  Element.prototype.querySelectorAll.call(element, selector)
export const isDrawn = (element: Element, options?: CheckVisibilityOptions) =>
  Element.prototype.checkVisibility.call(element, options)
export const isBefore = (node: Node, other: Node) =>
  (Node.prototype.compareDocumentPosition.call(node, other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0

const rootNodeOf = (node: Node) => Node.prototype.getRootNode.call(node)

export function rootOf(element: Element): Document | ShadowRoot | undefined {
  const root = rootNodeOf(element)
  return root instanceof Document || root instanceof ShadowRoot ? root : undefined
}

export function activeIn(root: Document | ShadowRoot): Element | null {
  return root instanceof Document ? activeOfDocument(root) : activeOfShadow(root)
}

export function byId(element: Element, id: string): Element | null {
  const root = rootOf(element)
  if (root instanceof Document) return Document.prototype.getElementById.call(root, id)
  return root ? DocumentFragment.prototype.getElementById.call(root, id) : null
}

export function labelsOf(element: Element): Element[] {
  const labels =
    element instanceof HTMLInputElement
      ? labelsOfInput(element)
      : element instanceof HTMLSelectElement
        ? labelsOfSelect(element)
        : element instanceof HTMLTextAreaElement
          ? labelsOfArea(element)
          : null
  return [...(labels ?? [])].slice(0, 4)
}

export function ownerFormOf(element: Element): HTMLFormElement | null {
  if (element instanceof HTMLInputElement) return formOfInput(element)
  if (element instanceof HTMLSelectElement) return formOfSelect(element)
  if (element instanceof HTMLTextAreaElement) return formOfArea(element)
  return element instanceof HTMLButtonElement ? formOfButton(element) : null
}

/** The text as one line, without invisible characters. */
export function oneLine(text: string | null | undefined, maxLength: number): string {
  return (text ?? '')
    .slice(0, maxLength * 4 + 1_000)
    .replaceAll(/[\s\u200b-\u200d\ufeff]+/g, ' ')
    .trim()
    .slice(0, maxLength)
}

export function attribute(element: Element, name: string, maxLength = 300): string {
  const value = attributeOf(element, name)
  return value === null ? '' : oneLine(value, maxLength)
}

/** The rendered tree, with shadow trees and slotted nodes. */
export class DrawnTree {
  readonly #shadowRootOf: (element: Element) => ShadowRoot | null

  constructor(shadowRootOf: (element: Element) => ShadowRoot | null) {
    this.#shadowRootOf = shadowRootOf
  }

  childrenOf(node: Node): Iterable<Node> {
    const shadow = node instanceof Element ? this.#shadowRootOf(node) : null
    if (shadow) return childNodesOf(shadow)
    if (node instanceof HTMLSlotElement) {
      const given = HTMLSlotElement.prototype.assignedNodes.call(node)
      if (given.length > 0) return given
    }
    return childNodesOf(node)
  }

  parentOf(element: Element): Element | null {
    const slot = slotOf(element)
    if (slot) return slot
    const parent = parentNodeOf(element)
    if (parent instanceof ShadowRoot) return parent.host
    return parent instanceof Element ? parent : null
  }

  *ancestorsOf(element: Element, maxSteps = 500): Iterable<Element> {
    let each = this.parentOf(element)
    for (let steps = 0; each && steps < maxSteps; steps++) {
      yield each
      each = this.parentOf(each)
    }
  }

  isWithin(inner: Element, outer: Element): boolean {
    if (inner === outer) return true
    for (const each of this.ancestorsOf(inner)) if (each === outer) return true
    return false
  }
}
