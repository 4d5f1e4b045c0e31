// Describes one control in the format of the contract. Contains no field values.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import type { Found } from './found.ts'
import { formOf } from './groups.ts'
import { dataOf, iconOf, textOfIds } from './names.ts'
import { attribute, attributeOf, hasAttribute, matches, oneLine, type DrawnTree } from './nodes.ts'
import type { Selectors } from './selectors.ts'
import type { Tools } from './tools.ts'

const MAX_NUMBER = 1_000_000

export interface Context {
  readonly tree: DrawnTree
  readonly tools: Tools
  readonly selectors: Selectors
  readonly focused: Element | null
}

export function describeElement(
  found: Found,
  group: number,
  { tree, tools, selectors, focused }: Context,
): Omit<ElementSnapshot, 'frame'> {
  const { element, name, rect } = found
  const { bounds } = tools
  const short = (attributeName: string) => attribute(element, attributeName, bounds.short)
  const isTrue = (attributeName: string) => short(attributeName) === 'true'
  const form = found.isField ? formOf(tree, element) : undefined
  const select = element instanceof HTMLSelectElement ? element : undefined
  return {
    ref: tools.refOf(element),
    tag:
      name === 'input' || name === 'select' || name === 'textarea' || name === 'button' || name === 'a'
        ? name
        : 'other',
    type: element instanceof HTMLInputElement || element instanceof HTMLButtonElement ? element.type : '',
    role: short('role').toLowerCase(),
    name: short('name'),
    id: short('id'),
    autocomplete: (
      short('autocomplete') || (form ? attribute(form, 'autocomplete', bounds.short) : '')
    ).toLowerCase(),
    input_mode: short('inputmode').toLowerCase(),
    pattern: short('pattern'),
    max_length: lengthOf(attributeOf(element, 'maxlength')),
    placeholder: short('placeholder') || short('aria-placeholder'),
    title: short('title'),
    class_name: short('class'),
    data: dataOf(element),
    label: found.label,
    text: found.text,
    near: found.near,
    description: textOfIds(tree, element, 'aria-describedby'),
    icon: found.isField ? '' : iconOf(element),
    href:
      element instanceof HTMLAnchorElement && hasAttribute(element, 'href')
        ? element.href.slice(0, bounds.url)
        : '',
    group,
    box: [rect.left, rect.top, rect.width, rect.height].map((value) =>
      Math.round(Math.max(-MAX_NUMBER, Math.min(MAX_NUMBER, value))),
    ),
    is_visible: found.isShown,
    is_enabled: !matches(element, ':disabled') && !isTrue('aria-disabled'),
    is_read_only: hasAttribute(element, 'readonly') || isTrue('aria-readonly'),
    is_required: hasAttribute(element, 'required') || isTrue('aria-required'),
    is_invalid: isTrue('aria-invalid') || matches(element, ':user-invalid'),
    is_checked: isBox(element) ? element.checked : isTrue('aria-checked') || isTrue('aria-selected'),
    is_focused: element === focused,
    has_value: hasValue(element),
    is_in_dialog: found.isInDialog,
    region: found.region,
    options: select ? optionsOf(select, tools) : [],
    has_choice: select !== undefined && select.value !== '' && select.selectedOptions[0]?.disabled === false,
    selector: selectors.cssOf(element),
    xpath: selectors.xpathOf(element),
  }
}

function lengthOf(text: string | null): number | null {
  const length = Number(text ?? -1)
  return Number.isInteger(length) && length >= 0 ? Math.min(length, MAX_NUMBER) : null
}

function isBox(element: Element): element is HTMLInputElement {
  return element instanceof HTMLInputElement && /^(radio|checkbox)$/.test(element.type)
}

function hasValue(element: Element): boolean {
  if (isBox(element)) return false
  const holds =
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  return holds && element.value !== ''
}

/** Without the placeholder option. */
function optionsOf(select: HTMLSelectElement, { bounds }: Tools): { value: string; label: string }[] {
  return [...select.options]
    .slice(0, bounds.options * 2)
    .filter(({ value, disabled, hidden }) => value !== '' && !disabled && !hidden)
    .slice(0, bounds.options)
    .map(({ value, label, text }) => ({
      value: value.slice(0, bounds.short),
      label: oneLine(label || text, bounds.short),
    }))
}
