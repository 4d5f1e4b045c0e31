// The world of our own in one document, and calls into it. Chromium may give the number of one that is gone to another,
// even to that of a page, so calls go by a name that no page knows, and count only while the document lives.
import { randomBytes } from 'node:crypto'
import type { CdpConnection } from '../chromium/cdp-connection.ts'
import { bounds } from './bounds.ts'
import { PageGone } from './gone.ts'

/** See build.ts. */
declare const LOGIN_PAGE: string

const NAME = `berth${randomBytes(16).toString('hex')}`
export const WORLD = `berth-login-${randomBytes(8).toString('hex')}`
const PREFIX_BYTES = 6
const CALL_MS = 3_000
/** Beyond the time after which Chromium ends it itself. */
const GRACE_MS = 1_000

/** Evaluated in every new document, and does nothing where it was before. */
export const SOURCE = `globalThis[${JSON.stringify(NAME)}] ??= (() => { ${LOGIN_PAGE}
return loginPage.open(
  Array.from(crypto.getRandomValues(new Uint8Array(${PREFIX_BYTES})), (byte) => byte.toString(16).padStart(2, '0')).join(''),
  ${JSON.stringify(bounds)},
) })(); undefined`

export interface CallOptions {
  /** What takes longer is ended. */
  readonly ms?: number
  readonly awaits?: boolean
  /** It happens as if a person did it. */
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
    // It is there already, unless the document was there before us.
    await world.#evaluate(SOURCE, {})
    world.#prefix = await world.call<string>('prefix')
    return world
  }

  /** What all refs of its elements begin with. */
  get prefix(): string {
    return this.#prefix
  }

  /** Its document is another one now. */
  end(): void {
    this.#isOver = true
  }

  async call<T>(name: string, args: readonly unknown[] = [], options: CallOptions = {}): Promise<T> {
    const given = args.map((argument) => JSON.stringify(argument)).join(', ')
    const { result } = await this.#evaluate(`globalThis[${JSON.stringify(NAME)}].${name}(${given})`, options)
    // SAFETY: it is our own script that answers, in a world of its own.
    return result.value as T
  }

  /** The same with a node of the document, which a script here could not name. */
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

  /** Handles of what it gives, which is a list. */
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
      throw new Error(`Our script failed in the page: ${why.slice(0, 200)}`)
    }
    return evaluated
  }

  #check(): void {
    if (this.#isOver) throw new PageGone('The document is another one now')
  }
}
