// A page can name its forms and fields so that they hide what documents and forms have under that name, and it does so
// for every world. So these are asked of the prototypes.

const getterOf = <T extends object, K extends keyof T>(prototype: T, name: K) => {
  // SAFETY: these are getters of every browser, and have no other owner.
  const { get } = Object.getOwnPropertyDescriptor(prototype, name) as { get: (this: T) => T[K] }
  return (node: T): T[K] => get.call(node)
}

export const isConnected = getterOf(Node.prototype, 'isConnected')
export const readyState = getterOf(Document.prototype, 'readyState')
export const isHidden = getterOf(Document.prototype, 'hidden')
const activeOfDocument = getterOf(Document.prototype, 'activeElement')
const activeOfShadow = getterOf(ShadowRoot.prototype, 'activeElement')
export const openShadowRoot = getterOf(Element.prototype, 'shadowRoot')

export const rootOf = (node: Node): Node => Node.prototype.getRootNode.call(node)
export const contains = (node: Node, other: Node): boolean => Node.prototype.contains.call(node, other)
export const hasDocumentFocus = (): boolean => Document.prototype.hasFocus.call(document)

export function activeIn(root: Document | ShadowRoot): Element | null {
  return root instanceof Document ? activeOfDocument(root) : activeOfShadow(root)
}

export function elementAt(root: Document | ShadowRoot, x: number, y: number): Element | null {
  const { prototype } = root instanceof Document ? Document : ShadowRoot
  return prototype.elementFromPoint.call(root as never, x, y)
}

export function allIn(root: Document | ShadowRoot, selector: string): NodeListOf<Element> {
  const { prototype } = root instanceof Document ? Document : DocumentFragment
  return prototype.querySelectorAll.call(root as never, selector)
}
