// More safe access through prototypes, see nodes.ts.
import { getter } from './nodes.ts'

export const isConnected = getter(Node.prototype, 'isConnected')
export const readyState = getter(Document.prototype, 'readyState')
export const isHidden = getter(Document.prototype, 'hidden')
export const openShadowRoot = getter(Element.prototype, 'shadowRoot')

export const contains = (node: Node, other: Node): boolean => Node.prototype.contains.call(node, other)
export const hasDocumentFocus = (): boolean => Document.prototype.hasFocus.call(document)

export function elementAt(root: Document | ShadowRoot, x: number, y: number): Element | null {
  if (root instanceof Document) return Document.prototype.elementFromPoint.call(root, x, y)
  return ShadowRoot.prototype.elementFromPoint.call(root, x, y)
}

export function allIn(root: Document | ShadowRoot, selector: string): NodeListOf<Element> {
  if (root instanceof Document) return Document.prototype.querySelectorAll.call(root, selector)
  return DocumentFragment.prototype.querySelectorAll.call(root, selector)
}
