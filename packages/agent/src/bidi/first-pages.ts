// Makes the mapper know the pages that are there when a session begins.

/** A page may be busy or show a dialog. It must not keep a client waiting for long. */
const WAIT_MS = 2_000
/** A session with more tabs does not ask all of them. */
const MAX_PAGES = 100

/** A command of our own to the mapper. Resolves with its result, or with undefined if it failed. */
export type Ask = (method: string, params: object) => Promise<object | undefined>

interface Tree {
  readonly contexts: readonly { readonly context: string }[]
}

/**
 * Resolves when the mapper has attached to the pages that are there. Until then, Chromium may still tell it about their
 * present documents. If a client navigates meanwhile, the mapper takes the load of the present document for that of the
 * new one: the event has the navigation's id, and the answer of a navigation that waits comes too early.
 */
export async function whenPagesAreKnown(ask: Ask, waitMs = WAIT_MS): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, waitMs)
  await Promise.race([askPages(ask), late.promise])
  clearTimeout(timer)
}

async function askPages(ask: Ask): Promise<void> {
  // Chromium answers this after it has named its pages, whose attachment the mapper has asked for before.
  await ask('browser.getUserContexts', {})
  const { contexts } = ((await ask('browsingContext.getTree', { maxDepth: 0 })) ?? { contexts: [] }) as Tree
  // The mapper evaluates in a page only when it has attached to it.
  const evaluate = ({ context }: { context: string }) =>
    ask('script.evaluate', { expression: '0', target: { context }, awaitPromise: false })
  await Promise.all(contexts.slice(0, MAX_PAGES).map(evaluate))
}

interface Answer {
  readonly id?: unknown
  readonly type?: string
  readonly result?: object
}

/** Commands of our own and their answers, beside those of the client. Their ids are negative: a client's never are. */
export class OwnCommands {
  readonly #waiting = new Map<number, (result: object | undefined) => void>()
  #lastId = 0

  ask(send: (command: object) => unknown, method: string, params: object): Promise<object | undefined> {
    const id = --this.#lastId
    const { promise, resolve } = Promise.withResolvers<object | undefined>()
    this.#waiting.set(id, resolve)
    send({ id, method, params })
    return promise
  }

  /** Whether this is the answer to a command of ours. */
  take({ id, type, result }: Answer): boolean {
    if (typeof id !== 'number' || id >= 0) return false
    this.#waiting.get(id)?.(type === 'success' ? result : undefined)
    this.#waiting.delete(id)
    return true
  }
}
