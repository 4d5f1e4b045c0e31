// URLs of a flow: the hosted page, and the live view of its browser.
import { newLink } from '../../sessions/live-view/links.ts'
import type { SessionTokens } from '../../sessions/gateway/tokens.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { places } from './sealed-places.ts'
import { isOver } from './transitions.ts'
import type { FlowRecord } from './types.ts'
import type { FlowLinks } from './view.ts'

export const HOSTED_PATH = '/auth/hosted'

/** The code is in the fragment, which browsers never send: it is in no log and in no Referer. */
export function hostedUrlOf(origin: string, connectionId: string, code: string | undefined): string {
  const page = `${origin}${HOSTED_PATH}/${connectionId}`
  return code === undefined ? page : `${page}#code=${code}`
}

/** Where the links start, and what the caller may do with them. */
export interface FlowPlace {
  readonly origin: string
  readonly showsCode: boolean
  readonly mayAct: boolean
}

export class LinkMaker {
  readonly #tokens: Pick<SessionTokens, 'sign'>
  readonly #box: SealedBox

  constructor({ tokens, box }: { tokens: Pick<SessionTokens, 'sign'>; box: SealedBox }) {
    this.#tokens = tokens
    this.#box = box
  }

  /** Undefined for a flow that has ended, and for a caller who may only read. A caller who came with the code does not get it again. */
  of(flow: FlowRecord | undefined, { origin, showsCode, mayAct }: FlowPlace): FlowLinks | undefined {
    if (!flow || !mayAct || isOver(flow)) return undefined
    const { id, connection_id: connectionId, browser_id: sessionId, handoff_code: sealed } = flow
    const code = showsCode && sealed !== null ? this.#box.open(sealed, places.handoffCode(id)) : undefined
    return {
      hostedUrl: hostedUrlOf(origin, connectionId, code),
      // The session has already ended while a success is being saved.
      liveViewUrl:
        sessionId === null || flow.state === 'SAVING'
          ? undefined
          : this.#screenOf(flow, { sessionId, origin }),
    }
  }

  #screenOf(
    { expires_at }: FlowRecord,
    { sessionId, origin }: { sessionId: string; origin: string },
  ): string {
    const lifeSeconds = Math.max(1, Math.ceil((Date.parse(expires_at) - Date.now()) / 1000))
    return newLink(this.#tokens, {
      sessionId,
      leaseNumber: 0,
      origin,
      mode: 'control',
      lifeSeconds,
      isForLogin: true,
    }).url
  }
}
