// Walks once through the rendered document and decides what a user can see. Children inherit what hides their ancestors:
// clipping, transparency and inertness. `aria-hidden` has no visual effect, so it does not count.
import { BLOCK, unspoken } from './names.ts'
import {
  allWithin,
  attribute,
  documentElementOf,
  hasAttribute,
  isDrawn,
  localNameOf,
  rectOf,
  type DrawnTree,
} from './nodes.ts'

const MAX_NODES = 40_000
const MAX_MS = 1_200
const MAX_DEPTH = 600
const MAX_HIDDEN_FIELDS = 40
export const MIN_PIXELS = 5

interface Edges {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

const everywhere: Edges = { left: -1e7, top: -1e7, right: 1e7, bottom: 1e7 }
const nowhere: Edges = { left: 0, top: 0, right: 0, bottom: 0 }

/** State that an element inherits and passes on to its children. */
export interface Place {
  readonly region: string
  readonly isInDialog: boolean
  readonly isInModal: boolean
  readonly isInControl: boolean
  readonly isBlock: boolean
  readonly isReadable: boolean
  readonly cursor: string
  readonly isAway: boolean
  /** Visible area; absolutely positioned and fixed elements have their own. */
  readonly edges: Edges
  readonly absoluteEdges: Edges
  readonly fixedEdges: Edges
  readonly depth: number
}

export interface Visit {
  readonly element: Element
  readonly name: string
  readonly style: CSSStyleDeclaration
  readonly rect: DOMRect
  readonly isShown: boolean
  readonly place: Place
  readonly above: Place
}

export interface Visitor {
  /** Returns whether the content belongs to this control. */
  enter(visit: Visit): boolean
  text(data: string, place: Place): void
  endLine(): void
}

export function walk(tree: DrawnTree, visitor: Visitor): void {
  const root = documentElementOf(document)
  // SAFETY: a document can be without any element, which the types do not express.
  if (!(root as Element | null)) return
  const endsAt = performance.now() + MAX_MS
  const modal = [...allWithin(root, 'dialog:modal')].at(-1)
  let left = MAX_NODES
  let hiddenFields = 0

  const enter = (element: Element, above: Place) => {
    const name = localNameOf(element)
    if (unspoken.has(name) && !/^(select|textarea|iframe|svg)$/.test(name)) return
    const style = getComputedStyle(element)
    if (style.display === 'none') return enterHidden(element, above)
    const rect = rectOf(element)
    const edges =
      style.position === 'fixed'
        ? above.fixedEdges
        : style.position === 'absolute'
          ? above.absoluteEdges
          : above.edges
    const seen = cut(rect, edges)
    const isAway =
      above.isAway ||
      isTransparent(element, name, style) ||
      isClippedAway(style) ||
      hasAttribute(element, 'inert')
    const isVisible = !isAway && style.visibility === 'visible'
    const inner = innerEdges(style, { edges, seen, rect, isOutermost: element === root || name === 'body' })
    const isContainer = style.transform !== 'none' || style.filter !== 'none' || style.perspective !== 'none'
    const place: Place = {
      region: regionOf(element, name) || above.region,
      isInDialog: above.isInDialog || isDialog(element, name, style),
      isInModal: above.isInModal || element === modal,
      isInControl: above.isInControl,
      isBlock: BLOCK.test(style.display),
      isReadable: isVisible && (style.display === 'contents' || isBig(cut(rect, inner), 2)),
      cursor: style.cursor,
      isAway,
      edges: inner,
      absoluteEdges: isContainer || style.position !== 'static' ? inner : above.absoluteEdges,
      fixedEdges: isContainer ? inner : above.fixedEdges,
      depth: above.depth + 1,
    }
    const isShown = isVisible && isBig(seen, MIN_PIXELS) && (!modal || place.isInModal) && isDrawn(element)
    const isControl = visitor.enter({ element, name, style, rect, isShown, place, above })
    if (!/^(svg|select|textarea|iframe)$/.test(name) && place.depth < MAX_DEPTH) {
      enterChildren(element, isControl ? { ...place, isInControl: true } : place)
    }
    if (place.isBlock || name === 'br') visitor.endLine()
  }

  const enterChildren = (element: Element, place: Place) => {
    for (const child of tree.childrenOf(element)) {
      left--
      if (left % 200 === 0 && performance.now() > endsAt) left = 0
      if (left <= 0) return
      if (child instanceof Element) enter(child, place)
      else if (child instanceof Text && place.isReadable) visitor.text(child.data, place)
    }
  }

  /** Hidden fields, such as those of another panel, still say something about the page. */
  const enterHidden = (element: Element, above: Place) => {
    for (const field of element instanceof HTMLInputElement ? [element] : allWithin(element, 'input')) {
      if (hiddenFields >= MAX_HIDDEN_FIELDS) return
      if (!(field instanceof HTMLInputElement) || !/^(text|email|tel|password|number)$/.test(field.type))
        continue
      hiddenFields++
      visitor.enter({
        element: field,
        name: 'input',
        style: getComputedStyle(field),
        rect: rectOf(field),
        isShown: false,
        place: above,
        above,
      })
    }
  }

  const page: Edges = {
    left: -scrollX,
    top: -scrollY,
    right: Math.max(root.scrollWidth, innerWidth) - scrollX,
    bottom: Math.max(root.scrollHeight, innerHeight) - scrollY,
  }
  enter(root, {
    region: '',
    isInDialog: false,
    isInModal: false,
    isInControl: false,
    isBlock: true,
    isReadable: true,
    cursor: 'auto',
    isAway: false,
    edges: page,
    absoluteEdges: page,
    fixedEdges: { left: 0, top: 0, right: innerWidth, bottom: innerHeight },
    depth: 0,
  })
}

function cut(one: Edges, other: Edges): Edges {
  return {
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  }
}

function isBig({ left, top, right, bottom }: Edges, minPixels: number): boolean {
  return right - left >= minPixels && bottom - top >= minPixels
}

function innerEdges(
  style: CSSStyleDeclaration,
  { edges, seen, rect, isOutermost }: { edges: Edges; seen: Edges; rect: Edges; isOutermost: boolean },
): Edges {
  // The window scrolls html and body. Inline elements and `display: contents` do not clip.
  if (isOutermost || style.display === 'inline' || style.display === 'contents') return edges
  const overflow = `${style.overflowX} ${style.overflowY}`
  if (/hidden|clip/.test(overflow)) return cut(edges, rect)
  if (/auto|scroll/.test(overflow)) return isBig(seen, MIN_PIXELS) ? everywhere : nowhere
  return edges
}

/** Some pages draw code boxes under a transparent field, which still counts as visible. */
function isTransparent(element: Element, name: string, style: CSSStyleDeclaration): boolean {
  return (
    style.opacity === '0' &&
    !(name === 'input' && attribute(element, 'autocomplete').includes('one-time-code'))
  )
}

/** Clipping that hides text from everyone but screen readers. */
function isClippedAway({ clipPath, clip, position }: CSSStyleDeclaration): boolean {
  const inset = /^inset\((\d+(?:\.\d+)?)%/.exec(clipPath)
  if (inset && Number(inset[1]) >= 50) return true
  if (/^(circle|ellipse)\(0/.test(clipPath)) return true
  const sides = /^rect\(([^)]*)\)$/.exec(clip)
  if (!sides || !/^(absolute|fixed)$/.test(position)) return false
  const [top = 0, right = 0, bottom = 0, left = 0] = sides[1]!.split(/[ ,]+/).map(Number.parseFloat)
  return right - left <= 2 || bottom - top <= 2
}

const REGION_TAGS = /^(header|nav|footer|main|form|search)$/
const REGION_ROLES: Readonly<Record<string, string>> = {
  banner: 'header',
  navigation: 'nav',
  contentinfo: 'footer',
  main: 'main',
  search: 'search',
  form: 'form',
}
const REGION_CLASS = /(?:^|\s)(?:site-|page-|main-|app-|top-)?(header|navbar|topbar|nav|footer)(?:\s|$)/i

export function regionOf(element: Element, name: string): string {
  const role = REGION_ROLES[attribute(element, 'role').toLowerCase()]
  if (role) return role
  if (REGION_TAGS.test(name)) return name
  const found = REGION_CLASS.exec(
    `${attribute(element, 'class')} ${attribute(element, 'id')}`,
  )?.[1]?.toLowerCase()
  return found === 'navbar' ? 'nav' : found === 'topbar' ? 'header' : (found ?? '')
}

const DIALOG_CLASS = /(?:^|[\s_-])(modal|dialog|popup|lightbox)(?:[\s_-]|$)/i

function isDialog(element: Element, name: string, style: CSSStyleDeclaration): boolean {
  if (name === 'dialog' || /^(alert)?dialog$/i.test(attribute(element, 'role'))) return true
  if (attribute(element, 'aria-modal') === 'true') return true
  const isApart = style.position === 'fixed' || style.position === 'absolute'
  return isApart && DIALOG_CLASS.test(`${attribute(element, 'class')} ${attribute(element, 'id')}`)
}
