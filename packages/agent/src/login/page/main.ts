// Runs in an isolated world in every document of the login's page. It shares only the document with the page. The agent
// calls it with expressions and names elements by their refs.
import { collect } from './collector.ts'
import { Cover } from './cover.ts'
import { Registry } from './registry.ts'
import { isHidden, readyState } from './safe.ts'
import { solve } from './solve.ts'
import { Stillness } from './stillness.ts'
import type { Bounds, Collected, Rest, Stored } from '../page-types.ts'
import * as use from './use.ts'

/** Limit for the content of one document, as JSON. */
const MAX_CHARACTERS = 2_000_000
const INDEXED_MS = 500

export function open(prefix: string, bounds: Bounds) {
  const stillness = new Stillness()
  stillness.observe(document)
  const registry = new Registry(prefix, stillness)
  const cover = new Cover(() => registry.roots())
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
    /** Lets the agent check that this is still the same world. */
    prefix: () => prefix,
    origin: () => origin,
    storage,
    isHidden: () => isHidden(document),

    solve: (token: string) => solve(registry.roots(), token),
    cover: () => cover.put(),
    uncover: () => cover.remove(),

    unexaminedHosts: () => registry.unexaminedHosts(),
    adopt: (root: ShadowRoot) => registry.adopt(root),

    usability: (ref: string) => use.usability(find(ref)),
    aim: (ref: string) => withElement(find(ref), use.aimAt),
    aimAtLabel: (ref: string) => {
      const label = withElement(find(ref), use.labelOf)
      return label ? use.aimAt(label) : null
    },
    /** Number of real mouse presses, by a user or by the agent. */
    presses: () => presses,
    frameBox: use.frameBox,
    isFrameHit: use.isFrameHit,
    /** Index of the element with the focus, or -1. */
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

/** As JSON. Drops the last elements if the result is too large. */
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
    // A document with an opaque origin has no storage.
    const databases = indexedDB.databases().then(({ length }) => length)
    return { local: localStorage.length, indexed: await Promise.race([databases, promise]) }
  } catch {
    return { local: 0, indexed: 0 }
  } finally {
    clearTimeout(timer)
  }
}
