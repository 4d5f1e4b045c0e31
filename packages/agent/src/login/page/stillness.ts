// Tracks when the document last changed. Ignores style attributes, because endless animations change them.

const OBSERVED: MutationObserverInit = {
  subtree: true,
  childList: true,
  characterData: true,
  characterDataOldValue: true,
  attributes: true,
  attributeOldValue: true,
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
  readonly #observer = new MutationObserver((records) => {
    if (!records.some(isChange)) return
    this.#changedAt = performance.now()
    this.#changes++
  })

  /** Each shadow tree needs its own call. */
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

/** Ignores redraws that do not change anything. */
function isChange({
  type,
  target,
  oldValue,
  attributeName,
  addedNodes,
  removedNodes,
}: MutationRecord): boolean {
  if (type === 'characterData') return (target as CharacterData).data !== oldValue
  if (type === 'attributes') return Element.prototype.getAttribute.call(target, attributeName!) !== oldValue
  const [added, removed] = [textOf(addedNodes), textOf(removedNodes)]
  return added === undefined || removed === undefined || added !== removed
}

/** Undefined when the list contains more than text. */
function textOf(nodes: NodeList): string | undefined {
  let text = ''
  for (const node of nodes) {
    if (!(node instanceof Text)) return undefined
    text += node.data
  }
  return text
}
