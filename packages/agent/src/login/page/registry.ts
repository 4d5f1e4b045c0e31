// Names for elements, and the shadow trees that scripts cannot see by themselves.
import { allIn, isConnected, openShadowRoot } from './safe.ts'
import type { Stillness } from './stillness.ts'

/** A document that makes ever new elements is looked at again and again. */
const MAX_NAMES = 20_000
/** Each takes some questions of the agent. */
const MAX_HOSTS = 40

export class Registry {
  readonly #prefix: string
  readonly #stillness: Stillness
  readonly #names = new WeakMap<Element, string>()
  readonly #elements = new Map<string, WeakRef<Element>>()
  readonly #closedRoots = new WeakMap<Element, ShadowRoot>()
  readonly #examined = new WeakSet<Element>()
  #next = 1

  constructor(prefix: string, stillness: Stillness) {
    this.#prefix = prefix
    this.#stillness = stillness
  }

  refOf(element: Element): string {
    const known = this.#names.get(element)
    if (known !== undefined) return known
    if (this.#elements.size >= MAX_NAMES) this.#forgetSome()
    const name = `${this.#prefix}:${this.#next++}`
    this.#names.set(element, name)
    this.#elements.set(name, new WeakRef(element))
    return name
  }

  /** Undefined once it is no part of the document any more. */
  find(ref: string): Element | undefined {
    const element = this.#elements.get(ref)?.deref()
    return element && isConnected(element) ? element : undefined
  }

  shadowRootOf(element: Element): ShadowRoot | null {
    const root = openShadowRoot(element) ?? this.#closedRoots.get(element) ?? null
    if (root) this.#stillness.observe(root)
    return root
  }

  /** Elements that may have a closed shadow tree, each only once: what has none will hardly get one. */
  unexaminedHosts(): Element[] {
    const found: Element[] = []
    this.#gatherHosts(document, found)
    for (const host of found) this.#examined.add(host)
    return found
  }

  adopt(root: ShadowRoot): void {
    this.#closedRoots.set(root.host, root)
  }

  #gatherHosts(root: Document | ShadowRoot, found: Element[]): void {
    for (const element of allIn(root, ':defined')) {
      if (found.length >= MAX_HOSTS) return
      const inner = this.shadowRootOf(element)
      if (inner) this.#gatherHosts(inner, found)
      else if (element.localName.includes('-') && !this.#examined.has(element)) found.push(element)
    }
  }

  #forgetSome(): void {
    for (const [name, reference] of this.#elements) {
      const element = reference.deref()
      if (!element || !isConnected(element)) this.#elements.delete(name)
    }
    for (const name of this.#elements.keys()) {
      if (this.#elements.size < MAX_NAMES) break
      this.#elements.delete(name)
    }
  }
}
