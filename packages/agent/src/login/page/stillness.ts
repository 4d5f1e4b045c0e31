// When the document last changed. Style attributes do not count: what moves for ever does it by them.

const OBSERVED: MutationObserverInit = {
  subtree: true,
  childList: true,
  characterData: true,
  attributes: true,
  attributeFilter: [
    'class',
    'hidden',
    'disabled',
    'open',
    'type',
    'aria-hidden',
    'aria-disabled',
    'aria-invalid',
  ],
}

export class Stillness {
  #changedAt = performance.now()
  #changes = 0
  readonly #observed = new WeakSet<Node>()
  readonly #observer = new MutationObserver(() => {
    this.#changedAt = performance.now()
    this.#changes++
  })

  /** Of shadow trees, each has to be observed by itself. */
  observe(root: Node): void {
    if (this.#observed.has(root)) return
    this.#observed.add(root)
    this.#observer.observe(root, OBSERVED)
  }

  get ms(): number {
    return performance.now() - this.#changedAt
  }

  get changes(): number {
    return this.#changes
  }
}
