// Helps the agent to use an element like a user: where to click, whether it has the focus, whether it accepted the typed
// text. Only the length of a value leaves the document, never the value.
import type { Aim, FrameBox, Held, Usability } from '../page-types.ts'
import { activeIn, rootOf } from './nodes.ts'
import { contains, elementAt, hasDocumentFocus } from './safe.ts'

type TextField = HTMLInputElement | HTMLTextAreaElement

export function usability(element: Element | undefined): Usability {
  if (!element) return 'gone'
  if (element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true') return 'disabled'
  if (isTextField(element) && element.readOnly) return 'read-only'
  return isShown(element) ? 'usable' : 'hidden'
}

export function isShown(element: Element): boolean {
  const isRendered = element.checkVisibility({ visibilityProperty: true, opacityProperty: false })
  const { width, height } = element.getBoundingClientRect()
  return isRendered && width > 0 && height > 0
}

/** Null when the element has no position in the window. */
export function aimAt(element: Element): Aim | null {
  scrollTo(element)
  const rectangles = [...element.getClientRects()].filter(({ width, height }) => width >= 1 && height >= 1)
  const points = rectangles.slice(0, 4).flatMap((rectangle) => pointsIn(rectangle))
  const open = points.find(({ x, y }) => isHit(element, x, y))
  const point = open ?? points[0]
  return point ? { ...point, isCovered: !open } : null
}

/** The centre first, then points that a covering element may leave free. */
function pointsIn({ left, top, width, height }: DOMRect): { x: number; y: number }[] {
  const shares = [0.5, 0.2, 0.8]
  return shares
    .flatMap((down) => shares.map((right) => ({ x: left + width * right, y: top + height * down })))
    .filter(({ x, y }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight)
}

function scrollTo(element: Element): void {
  const { left, top, right, bottom } = element.getBoundingClientRect()
  // In a frame, always let the browser scroll, because the window may show only part of the frame.
  const isInside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
  if (!isInside || window !== window.top) {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  }
}

function isHit(element: Element, x: number, y: number): boolean {
  const root = rootOf(element)
  if (!root) return false
  const hit = elementAt(root, x, y)
  if (!hit) return false
  if (hit === element || contains(element, hit)) return true
  // Slotted text belongs to the host.
  if (root instanceof ShadowRoot && hit === root.host) return true
  return hit.closest('label')?.control === element
}

/** Whether nothing covers the frame at this point. */
export function isFrameHit(owner: Element, x: number, y: number): boolean {
  return isHit(owner, x, y)
}

export function frameBox(owner: Element): FrameBox {
  const { left, top } = owner.getBoundingClientRect()
  const style = getComputedStyle(owner)
  const inset = (side: string) => Number.parseFloat(style.getPropertyValue(`padding-${side}`)) || 0
  return {
    x: left + owner.clientLeft + inset('left'),
    y: top + owner.clientTop + inset('top'),
    width: owner.clientWidth,
    height: owner.clientHeight,
    isShown: isShown(owner) && style.opacity !== '0',
  }
}

export function hasFocus(element: Element): boolean {
  const root = rootOf(element)
  if (!root) return false
  return hasDocumentFocus() && activeIn(root) === element
}

export function focusOn(element: Element): void {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true })
}

/** Selects the content, so that typing replaces it. */
export function selectAll(element: Element): void {
  if (isTextField(element)) return element.select()
  getSelection()?.selectAllChildren(element)
}

export function heldBy(element: Element): Held {
  const value = isTextField(element) ? element.value : (element.textContent ?? '')
  return { length: value.length, signs: signsOf(value) }
}

export function signsOf(value: string): number {
  return value.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}

/** Selects an option by value or by label. */
export function choose(element: Element, wanted: string): Usability | 'unknown' {
  if (!(element instanceof HTMLSelectElement)) return 'unknown'
  const options = [...element.options]
  const option =
    options.find(({ value }) => value === wanted) ??
    options.find(({ label }) => label.trim() === wanted.trim())
  if (!option) return 'unknown'
  if (option.disabled) return 'disabled'
  element.focus({ preventScroll: true })
  element.value = option.value
  option.selected = true
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }))
  element.dispatchEvent(new Event('change', { bubbles: true }))
  return 'usable'
}

export function isTicked(element: Element): boolean {
  if (element instanceof HTMLInputElement) return element.checked
  return element.getAttribute('aria-checked') === 'true'
}

/** The label to click instead of a checkbox that the page hides and draws itself. */
export function labelOf(element: Element): Element | undefined {
  if (!(element instanceof HTMLInputElement)) return undefined
  return [...(element.labels ?? [])].find(isShown)
}

function isTextField(element: Element): element is TextField {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
}
