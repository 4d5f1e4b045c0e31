// Our isolated world in one document, and calls into it. Chromium may reuse the id of a world, even for a page's own
// world. So calls use a secret name, and their results count only while the document exists.
import { randomBytes } from 'node:crypto'
import type { CdpConnection } from '../cdp/cdp-connection.ts'
import { bounds } from './bounds.ts'
import { PageGone } from './gone.ts'

/** See build.ts. */
declare const LOGIN_PAGE: string

const NAME = `berth${randomBytes(16).toString('hex')}`
export const WORLD = `berth-login-${randomBytes(8).toString('hex')}`
const PREFIX_BYTES = 6
const CALL_MS = 3_000
/** Extra time after Chromium's own timeout. */
const GRACE_MS = 1_000

/** Runs in every new document. Does nothing the second time. */
export const SOURCE = `globalThis[${JSON.stringify(NAME)}] ??= (() => { ${LOGIN_PAGE}
return loginPage.open(
  Array.from(crypto.getRandomValues(new Uint8Array(${PREFIX_BYTES})), (byte) => byte.toString(16).padStart(2, '0')).join(''),
  ${JSON.stringify(bounds)},
) })(); undefined`

export interface CallOptions {
  /** The call is stopped after this time. */
  readonly ms?: number
  readonly awaits?: boolean
  /** Counts as a user gesture. */
  readonly isGesture?: boolean
}

interface Evaluated {
  readonly result: { readonly value?: unknown; readonly objectId?: string }
  readonly exceptionDetails?: {
    readonly text: string
    readonly exception?: { readonly description?: string }
  }
}

export class World {
  readonly frameId: string
  readonly sessionId: string
  readonly contextId: number
  readonly #cdp: CdpConnection
  #prefix = ''
  #isOver = false

  private constructor(cdp: CdpConnection, place: { frameId: string; sessionId: string; contextId: number }) {
    this.#cdp = cdp
    this.frameId = place.frameId
    this.sessionId = place.sessionId
    this.contextId = place.contextId
  }

  static async open(cdp: CdpConnection, frameId: string, sessionId: string): Promise<World> {
    const { executionContextId: contextId } = await cdp.call<{ executionContextId: number }>(
      'Page.createIsolatedWorld',
      { frameId, worldName: WORLD },
      sessionId,
      CALL_MS,
    )
    const world = new World(cdp, { frameId, sessionId, contextId })
    // Needed only if the document was loaded before we connected.
    await world.#evaluate(SOURCE, {})
    world.#prefix = await world.call<string>('prefix')
    return world
  }

  /** Prefix of all element refs in this world. */
  get prefix(): string {
    return this.#prefix
  }

  /** Called when the document is gone. */
  end(): void {
    this.#isOver = true
  }

  async call<T>(name: string, args: readonly unknown[] = [], options: CallOptions = {}): Promise<T> {
    const given = args.map((argument) => JSON.stringify(argument)).join(', ')
    const { result } = await this.#evaluate(`globalThis[${JSON.stringify(NAME)}].${name}(${given})`, options)
    // SAFETY: our own script in an isolated world returns it.
    return result.value as T
  }

  /** Like call, with a node of the document as the first argument. */
  async callWith<T>(backendNodeId: number, name: string, args: readonly unknown[] = []): Promise<T> {
    this.#check()
    const { object } = await this.#cdp.call<{ object: { objectId: string } }>(
      'DOM.resolveNode',
      { backendNodeId, executionContextId: this.contextId },
      this.sessionId,
      CALL_MS,
    )
    const { result } = await this.#cdp.call<Evaluated>(
      'Runtime.callFunctionOn',
      {
        objectId: object.objectId,
        functionDeclaration: `function (...args) { return globalThis[${JSON.stringify(NAME)}].${name}(this, ...args) }`,
        arguments: args.map((value) => ({ value })),
        returnByValue: true,
      },
      this.sessionId,
      CALL_MS,
    )
    this.#cdp.dispatch('Runtime.releaseObject', { objectId: object.objectId }, this.sessionId)
    this.#check()
    return result.value as T
  }

  /** Object handles of the items in the returned list. */
  async handlesOf(name: string): Promise<string[]> {
    const expression = `globalThis[${JSON.stringify(NAME)}].${name}()`
    const { result } = await this.#cdp.call<Evaluated>(
      'Runtime.evaluate',
      { expression, contextId: this.contextId, timeout: CALL_MS },
      this.sessionId,
      CALL_MS + GRACE_MS,
    )
    if (result.objectId === undefined) return []
    const { result: properties } = await this.#cdp.call<{
      result: { name: string; value?: { objectId?: string } }[]
    }>('Runtime.getProperties', { objectId: result.objectId, ownProperties: true }, this.sessionId, CALL_MS)
    this.#cdp.dispatch('Runtime.releaseObject', { objectId: result.objectId }, this.sessionId)
    return properties.flatMap(({ name: each, value }) =>
      /^\d+$/.test(each) && value?.objectId ? [value.objectId] : [],
    )
  }

  async #evaluate(
    expression: string,
    { ms = CALL_MS, awaits = false, isGesture = false }: CallOptions,
  ): Promise<Evaluated> {
    this.#check()
    const options = { returnByValue: true, awaitPromise: awaits, userGesture: isGesture, timeout: ms }
    const evaluated = await this.#cdp
      .call<Evaluated>(
        'Runtime.evaluate',
        { expression, contextId: this.contextId, ...options },
        this.sessionId,
        ms + GRACE_MS,
      )
      .catch((error: unknown) => {
        this.#check()
        throw error
      })
    this.#check()
    const { exceptionDetails } = evaluated
    if (exceptionDetails) {
      const why = exceptionDetails.exception?.description ?? exceptionDetails.text
      throw new Error(`The login script failed in the page: ${why.slice(0, 200)}`)
    }
    return evaluated
  }

  #check(): void {
    if (this.#isOver) throw new PageGone('The page has navigated to another document')
  }
}
