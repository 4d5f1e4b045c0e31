// Names of an element: its labels, its text, its images.
import {
  allWithin,
  attribute,
  attributesOf,
  byId,
  hasAttribute,
  labelsOf,
  localNameOf,
  oneLine,
  type DrawnTree,
} from './nodes.ts'

const MAX_NODES_OF_TEXT = 400
const SHORT = 300

/** Elements whose text does not belong to the surrounding text. */
export const unspoken: ReadonlySet<string> = new Set(
  'script style noscript template head svg select textarea option iframe object video audio canvas'.split(
    ' ',
  ),
)
export const BLOCK = /^(block|flex|grid|table|list-item|table-row|table-cell|flow-root)/

/** Includes text for screen readers, because it is the name of many icon buttons. */
export function textIn(tree: DrawnTree, element: Element, maxLength: number, except?: Element): string {
  let text = ''
  let seen = 0
  const visit = (node: Node) => {
    if (text.length > maxLength * 2 || seen++ > MAX_NODES_OF_TEXT) return
    if (node instanceof Text) {
      text += node.data.slice(0, maxLength * 2)
      return
    }
    if (!(node instanceof Element) || node === except || unspoken.has(localNameOf(node))) return
    const { display } = getComputedStyle(node)
    if (display === 'none') return
    const gap = BLOCK.test(display) || localNameOf(node) === 'br' ? ' ' : ''
    text += gap
    for (const child of tree.childrenOf(node)) visit(child)
    text += gap
  }
  for (const child of tree.childrenOf(element)) visit(child)
  return oneLine(text, maxLength)
}

export function textOfIds(tree: DrawnTree, element: Element, attributeName: string): string {
  const ids = attribute(element, attributeName).split(' ').filter(Boolean).slice(0, 5)
  const texts = ids.map((id) => {
    const found = byId(element, id)
    return found ? textIn(tree, found, SHORT) : ''
  })
  return oneLine(texts.join(' '), SHORT)
}

export function labelOf(tree: DrawnTree, element: Element): string {
  const labels = labelsOf(element).map((label) => textIn(tree, label, SHORT, element))
  const label = oneLine(labels.join(' '), SHORT)
  return label || textOfIds(tree, element, 'aria-labelledby') || attribute(element, 'aria-label')
}

/** Never contains typed text. */
export function shownTextOf(tree: DrawnTree, element: Element): string {
  if (element instanceof HTMLInputElement) {
    if (!/^(submit|button|reset|image)$/.test(element.type)) return ''
    const text = attribute(element, 'value') || attribute(element, 'alt')
    return text || (element.type === 'submit' ? 'Submit' : '')
  }
  if (/^(select|textarea)$/.test(localNameOf(element))) return ''
  if (element instanceof HTMLElement && element.isContentEditable) return ''
  return textIn(tree, element, SHORT)
}

const PICTURES = 'img, svg, use, i, svg title, [class*="icon" i], [class*="logo" i]'

export function iconOf(element: Element): string {
  const words = hasAttribute(element, 'src') ? [fileName(attribute(element, 'src'))] : []
  for (const picture of [...allWithin(element, PICTURES)].slice(0, 12)) {
    const link = attribute(picture, 'href') || attribute(picture, 'xlink:href')
    words.push(
      attribute(picture, 'alt'),
      attribute(picture, 'title'),
      attribute(picture, 'aria-label'),
      attribute(picture, 'class', 60),
      fileName(attribute(picture, 'src')),
      link.split('#')[1] ?? '',
      localNameOf(picture) === 'title' ? oneLine(picture.textContent, 60) : '',
    )
  }
  return oneLine([...new Set(words.filter(Boolean))].join(' '), SHORT)
}

export function fileName(address: string): string {
  if (address.startsWith('data:')) return ''
  return address
    .replace(/[?#].*$/, '')
    .split('/')
    .at(-1)!
    .slice(0, 60)
}

const TOLD = /^(lang|hreflang|tabindex|aria-hidden)$/

/** Leaves out the values of attributes that may contain typed text. */
export function dataOf(element: Element): string {
  const words: string[] = []
  for (const { name, value } of [...attributesOf(element)].slice(0, 40)) {
    // The language that a link leads to, and whether a field is meant for people.
    if (TOLD.test(name)) words.push(`${name}=${oneLine(value, 20)}`)
    if (!name.startsWith('data-')) continue
    const isKept = !/value|content|secret|pass/.test(name)
    words.push(isKept ? `${name.slice(5)}=${oneLine(value, 60)}` : name.slice(5))
  }
  return oneLine(words.join(' '), SHORT)
}
