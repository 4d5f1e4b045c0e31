// Decides what is a control: by its tag, or by its behaviour.
import { attribute, attributeOf, attributesOf, hasAttribute } from './nodes.ts'
import type { Visit } from './walk.ts'

const UNFILLED = /^(hidden|submit|button|image|reset|file|color|range)$/
const CLICKED_ROLES = /^(button|link|menuitem|menuitemradio|option|radio|checkbox|switch|tab|treeitem)$/

export function isField(element: Element, name: string): boolean {
  if (element instanceof HTMLInputElement) return !UNFILLED.test(element.type)
  if (name === 'select' || name === 'textarea') return true
  return (
    element instanceof HTMLElement && element.isContentEditable && attribute(element, 'role') === 'textbox'
  )
}

/** strong: everything inside belongs to the control. weak: a control only if it contains no other controls. */
export function clickabilityOf({ element, name, place, above }: Visit): 'strong' | 'weak' | undefined {
  if (name === 'button' || name === 'summary') return 'strong'
  if (element instanceof HTMLInputElement)
    return /^(submit|button|image)$/.test(element.type) ? 'strong' : undefined
  if (name === 'a' && hasAttribute(element, 'href')) return 'strong'
  if (CLICKED_ROLES.test(attribute(element, 'role').toLowerCase())) return 'strong'
  if (name === 'label') return undefined
  if (name === 'a' || hasAttribute(element, 'onclick')) return 'weak'
  const isReachable = Number(attributeOf(element, 'tabindex') ?? -1) >= 0
  // Children inherit the cursor, so only the outermost element counts.
  if (place.cursor === 'pointer' && (isReachable || above.cursor !== 'pointer')) return 'weak'
  const isListed =
    name === 'li' && (isReachable || [...attributesOf(element)].some((each) => each.name.startsWith('data-')))
  return isListed ? 'weak' : undefined
}
