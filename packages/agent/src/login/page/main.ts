// Runs in a world of its own in every document of the login's page: it shares the document with the page, and nothing
// else. The agent calls it by expressions; whatever it is told about elements is by their refs.
import { collect } from './collector.ts'
import { Registry } from './registry.ts'
import { isHidden, readyState } from './safe.ts'
import { Stillness } from './stillness.ts'
import type { Bounds, Collected, Rest, Stored } from '../page-types.ts'
import * as use from './use.ts'

/** Of what is seen of one document, as JSON. */
const MAX_CHARACTERS = 2_000_000
const INDEXED_MS = 500

export function open(prefix: string, bounds: Bounds) {
  const stillness = new Stillness()
  stillness.observe(document)
  const registry = new Registry(prefix, stillness)
  const find = (ref: string) => registry.find(ref)
  let presses = 0
  const onPress = ({ isTrusted }: MouseEvent) => {
    if (isTrusted) presses++
  }
  addEventListener('mousedown', onPress, { capture: true, passive: true })
  const tools = {
    bounds,
    refOf: (element: Element) => registry.refOf(element),
    shadowRootOf: (element: Element) => registry.shadowRootOf(element),
  }

  return {
    look: () => fitting(collect(tools)),
    rest: (): Rest => ({
      stillMs: stillness.ms,
      changes: stillness.changes,
      isLoading: readyState(document) === 'loading',
    }),
    /** Dead or alive: whether this is still the world that was opened under that name. */
    prefix: () => prefix,
    origin: () => origin,
    storage,
    isHidden: () => isHidden(document),

    unexaminedHosts: () => registry.unexaminedHosts(),
    adopt: (root: ShadowRoot) => registry.adopt(root),

    usability: (ref: string) => use.usability(find(ref)),
    aim: (ref: string) => withElement(find(ref), use.aimAt),
    aimAtLabel: (ref: string) => {
      const label = withElement(find(ref), use.labelOf)
      return label ? use.aimAt(label) : null
    },
    /** How often a mouse was pressed here, be it by a person or by us. */
    presses: () => presses,
    frameBox: use.frameBox,
    isFrameHit: use.isFrameHit,
    /** Which of them has the focus; -1: none. */
    focused: (refs: readonly string[]) =>
      refs.findIndex((ref) => withElement(find(ref), use.hasFocus) === true),
    focus: (ref: string) => withElement(find(ref), use.focusOn),
    selectAll: (ref: string) => withElement(find(ref), use.selectAll),
    held: (refs: readonly string[]) => refs.map((ref) => withElement(find(ref), use.heldBy)),
    choose: (ref: string, value: string) =>
      withElement(find(ref), (element) => use.choose(element, value)) ?? 'gone',
    isTicked: (ref: string) => withElement(find(ref), use.isTicked),
    press: (ref: string) =>
      withElement(find(ref), (element) => {
        if (element instanceof HTMLElement) element.click()
        return true
      }),
  }
}

function withElement<T>(element: Element | undefined, act: (element: Element) => T): T | null {
  return element ? act(element) : null
}

/** As JSON. Of many and long ones, the last are left out. */
function fitting({ frame, elements }: Collected): string {
  let kept = elements
  for (;;) {
    const text = JSON.stringify({ frame, elements: kept })
    if (text.length <= MAX_CHARACTERS || kept.length === 0) return text
    kept = kept.slice(0, kept.length >> 1)
  }
}

async function storage(): Promise<Stored> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const timer = setTimeout(() => resolve(0), INDEXED_MS)
  try {
    // A document without an origin of its own may have neither.
    const databases = indexedDB.databases().then(({ length }) => length)
    return { local: localStorage.length, indexed: await Promise.race([databases, promise]) }
  } catch {
    return { local: 0, indexed: 0 }
  } finally {
    clearTimeout(timer)
  }
}
