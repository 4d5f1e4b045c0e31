// Gives refs to elements, and keeps closed shadow trees that scripts cannot open.
import { allIn, isConnected, openShadowRoot } from './safe.ts'
import type { Stillness } from './stillness.ts'

/** A document may keep creating elements between looks. */
const MAX_NAMES = 20_000
/** Each host takes several calls of the agent. */
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

  /** Undefined when the element is no longer in the document. */
  find(ref: string): Element | undefined {
    const element = this.#elements.get(ref)?.deref()
    return element && isConnected(element) ? element : undefined
  }

  shadowRootOf(element: Element): ShadowRoot | null {
    const root = openShadowRoot(element) ?? this.#closedRoots.get(element) ?? null
    if (root) this.#stillness.observe(root)
    return root
  }

  /** Elements that may have a closed shadow tree. Returns each only once, because shadow trees are rarely added later. */
  unexaminedHosts(): Element[] {
    const found: Element[] = []
    this.#gatherHosts(document, found)
    for (const host of found) this.#examined.add(host)
    return found
  }

  /** The document and every shadow tree in it that is known. */
  roots(): (Document | ShadowRoot)[] {
    const found: (Document | ShadowRoot)[] = [document]
    for (const root of found) {
      for (const element of allIn(root, ':defined')) {
        const inner = this.shadowRootOf(element)
        if (inner) found.push(inner)
      }
    }
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
