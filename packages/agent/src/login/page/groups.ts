// Groups controls: by form or, for fields without a form, by the smallest container with a submit button.
import type { GroupSnapshot } from '@berth/contracts/page-snapshot'
import type { Found, Heading } from './found.ts'
import { textIn } from './names.ts'
import {
  attribute,
  attributeOf,
  documentElementOf,
  isBefore,
  localNameOf,
  oneLine,
  ownerFormOf,
  type DrawnTree,
} from './nodes.ts'
import type { Bounds } from './tools.ts'
import { regionOf } from './walk.ts'

const MAX_LOOSE = 60
const MAX_CLIMB = 12
const OUTERMOST = /^(body|html|main|dialog|header|footer|nav)$/
/** Buttons that only affect one field. */
const FIELD_BUTTON =
  /show|hide|toggle|reveal|eye|clear|anzeigen|verbergen|afficher|masquer|mostrar|ocultar|mostra|nascondi|pokaż|показать/i

export class Groups {
  readonly #tree: DrawnTree
  readonly #bounds: Bounds
  readonly #found: readonly Found[]
  readonly #page = documentElementOf(document)
  readonly #numbers = new Map<Element, number>([[this.#page, 0]])
  readonly #containers = new Map<Found, Element>()

  constructor(tree: DrawnTree, bounds: Bounds, found: readonly Found[]) {
    this.#tree = tree
    this.#bounds = bounds
    this.#found = found
    for (const each of found) {
      const form = formOf(tree, each.element)
      if (form) this.#containers.set(each, form)
    }
    this.#gatherLoose()
    for (const container of this.#containers.values()) {
      if (!this.#numbers.has(container) && this.#numbers.size < bounds.groups)
        this.#numbers.set(container, this.#numbers.size)
    }
  }

  /** The innermost group around the element, because groups can be nested. */
  around(element: Element): number | null {
    for (const each of [element, ...this.#tree.ancestorsOf(element)]) {
      const found = each === this.#page ? undefined : this.#numbers.get(each)
      if (found !== undefined) return found
    }
    return null
  }

  numberOf(found: Found): number {
    const container = this.#containers.get(found)
    if (container) return this.#numbers.get(container) ?? 0
    return this.around(found.element) ?? 0
  }

  describe(headings: readonly Heading[]): GroupSnapshot[] {
    return [...this.#numbers.keys()].map((container) => this.#describe(container, headings))
  }

  #gatherLoose(): void {
    const loose = this.#found
      .filter((each) => each.isField && !this.#containers.has(each))
      .slice(0, MAX_LOOSE)
    const around = new Set<Element>()
    for (const { element } of this.#found.filter((each) => isSender(each)).slice(0, MAX_LOOSE)) {
      if (formOf(this.#tree, element)) continue
      for (const each of this.#tree.ancestorsOf(element, 60)) around.add(each)
    }
    for (const each of loose) {
      let container: Element = this.#page
      let steps = 0
      for (const ancestor of this.#tree.ancestorsOf(each.element)) {
        container = ancestor
        if (around.has(ancestor) || OUTERMOST.test(localNameOf(ancestor)) || ++steps >= MAX_CLIMB) break
      }
      this.#containers.set(each, container)
    }
    // A field with its own button still belongs to the group around it.
    const all = new Set(loose.map((each) => this.#containers.get(each)!))
    for (const each of loose) {
      const wider = [...this.#tree.ancestorsOf(this.#containers.get(each)!)].findLast(
        (ancestor) => all.has(ancestor) && !OUTERMOST.test(localNameOf(ancestor)),
      )
      if (wider) this.#containers.set(each, wider)
    }
  }

  #describe(container: Element, headings: readonly Heading[]): GroupSnapshot {
    const isPage = container === this.#page
    const isForm = container instanceof HTMLFormElement
    const inside = headings.find(({ element }) => !isPage && this.#tree.isWithin(element, container))
    const before = headings.findLast(({ element }) => isPage || isBefore(element, container))
    const names = ['id', 'name', 'class', 'aria-label', 'role', 'data-testid', 'data-test']
    return {
      is_form: isForm,
      action: isForm ? addressOf(attributeOf(container, 'action')).slice(0, this.#bounds.url) : '',
      method: isForm ? (attribute(container, 'method') || 'get').toLowerCase() : '',
      attributes: isPage
        ? ''
        : oneLine(names.map((name) => attribute(container, name)).join(' '), this.#bounds.short),
      heading: (inside ?? before)?.text ?? '',
      text: isPage ? '' : textIn(this.#tree, container, this.#bounds.groupText),
      is_in_dialog: this.#found.find((each) => this.#containers.get(each) === container)?.isInDialog ?? false,
      region: isPage ? '' : this.#regionAround(container),
    }
  }

  #regionAround(container: Element): string {
    for (const each of this.#tree.ancestorsOf(container)) {
      const region = regionOf(each, localNameOf(each))
      if (region && region !== 'form') return region
    }
    return ''
  }
}

export function formOf(tree: DrawnTree, element: Element): HTMLFormElement | undefined {
  const owner = ownerFormOf(element)
  if (owner) return owner
  for (const each of tree.ancestorsOf(element)) if (each instanceof HTMLFormElement) return each
  return undefined
}

function isSender({ element, name, text, label, isField, isShown }: Found): boolean {
  if (isField || !isShown || name === 'a' || (text + label).length < 2) return false
  return !FIELD_BUTTON.test(`${text} ${label} ${attribute(element, 'class')}`)
}

function addressOf(text: string | null): string {
  if (text === null) return ''
  try {
    return new URL(text, location.href).href
  } catch {
    return ''
  }
}
