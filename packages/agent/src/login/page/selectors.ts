// Builds CSS and XPath selectors for an element.
import { attributeOf, localNameOf, nextElementOf, parentNodeOf, previousElementOf, rootOf } from './nodes.ts'

const TELLING = [
  'name',
  'data-testid',
  'data-test',
  'data-provider',
  'type',
  'autocomplete',
  'aria-label',
  'href',
]
const MAX_VALUE_LENGTH = 120
/** Counting more siblings would take too long. */
const MAX_SIBLINGS = 2_000

/** Caches results, so each look needs a new instance. */
export class Selectors {
  readonly #maxLength: number
  readonly #counts = new Map<Document | ShadowRoot, Map<string, number>>()
  readonly #places = new Map<Element, { place: number; isOnly: boolean }>()

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** An element in a shadow tree gets the selector of its host first, separated by `>>>`. */
  cssOf(element: Element): string {
    const parts: string[] = []
    let each: Element | undefined = element
    while (each && parts.length < 6) {
      const root: Document | ShadowRoot | undefined = rootOf(each)
      if (!root) break
      parts.unshift(this.#cssIn(each, root))
      each = root instanceof ShadowRoot ? root.host : undefined
    }
    return parts.join(' >>> ').slice(0, this.#maxLength)
  }

  xpathOf(element: Element): string {
    const id = attributeOf(element, 'id')
    const root = rootOf(element)
    if (
      id &&
      root &&
      id.length < MAX_VALUE_LENGTH &&
      !/["']/.test(id) &&
      this.#isOnly(`#${CSS.escape(id)}`, root)
    ) {
      return `//*[@id="${id}"]`
    }
    const steps = path(element).map((each) => `${localNameOf(each)}[${this.#placeOf(each).place}]`)
    return `/${steps.join('/')}`.slice(0, this.#maxLength)
  }

  #cssIn(element: Element, root: Document | ShadowRoot): string {
    const tag = CSS.escape(localNameOf(element))
    const id = attributeOf(element, 'id')
    const attempts = id && id.length < MAX_VALUE_LENGTH ? [`#${CSS.escape(id)}`] : []
    for (const name of TELLING) {
      const value = attributeOf(element, name)
      if (value && value.length < MAX_VALUE_LENGTH) attempts.push(`${tag}[${name}=${quoted(value)}]`)
    }
    const found = attempts.find((attempt) => this.#isOnly(attempt, root))
    if (found) return found
    const parts: string[] = []
    for (const each of path(element).toReversed()) {
      const eachId = attributeOf(each, 'id')
      if (
        each !== element &&
        eachId &&
        eachId.length < MAX_VALUE_LENGTH &&
        this.#isOnly(`#${CSS.escape(eachId)}`, root)
      ) {
        parts.unshift(`#${CSS.escape(eachId)}`)
        break
      }
      const { place, isOnly } = this.#placeOf(each)
      parts.unshift(CSS.escape(localNameOf(each)) + (isOnly ? '' : `:nth-of-type(${place})`))
    }
    return parts.join(' > ')
  }

  #isOnly(selector: string, root: Document | ShadowRoot): boolean {
    const counts = this.#counts.get(root) ?? new Map<string, number>()
    this.#counts.set(root, counts)
    const known = counts.get(selector)
    if (known !== undefined) return known === 1
    const { prototype } = root instanceof Document ? Document : DocumentFragment
    const count = prototype.querySelectorAll.call(root as never, selector).length
    counts.set(selector, count)
    return count === 1
  }

  #placeOf(element: Element): { place: number; isOnly: boolean } {
    const known = this.#places.get(element)
    if (known) return known
    const name = localNameOf(element)
    const count = (next: (each: Element) => Element | null) => {
      let found = 0
      let each = next(element)
      for (let steps = 0; each && steps < MAX_SIBLINGS; steps++) {
        if (localNameOf(each) === name) found++
        each = next(each)
      }
      return found
    }
    const before = count(previousElementOf)
    const place = { place: before + 1, isOnly: before === 0 && count(nextElementOf) === 0 }
    this.#places.set(element, place)
    return place
  }
}

/** From the root to the element. */
function path(element: Element): Element[] {
  const found: Element[] = []
  let each: Node | null = element
  while (each instanceof Element && found.length < 60) {
    found.unshift(each)
    each = parentNodeOf(each)
  }
  return found
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\a `)}"`
}
