// A flow's token: the hosted login page uses it instead of an API key. It grants access to one connection, only while
// the flow is the connection's latest.
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { SessionTokens, type TokenKey } from '../../sessions/gateway/tokens.ts'
import type { FlowAuthenticator, Principal } from '../../http/principal.ts'
import { findFlow } from './flow-store.ts'
import { findConnection } from './store.ts'

const AUDIENCE = 'login-flow'
const LIFE_SECONDS = 30 * 60

type Place = Parameters<FlowAuthenticator['admit']>[1]

export class FlowTokens implements FlowAuthenticator {
  readonly #db: Db
  /** The same format as session tokens, with its own key. */
  readonly #tokens: SessionTokens

  constructor({ db, key }: { db: Db; key: TokenKey }) {
    this.#db = db
    this.#tokens = new SessionTokens({ keys: [key] })
  }

  sign(flowId: string): string {
    return this.#tokens.sign({
      sessionId: flowId,
      audience: [AUDIENCE],
      lifeSeconds: LIFE_SECONDS,
      // Published relays accept no other tokens.
      extra: { iss: 'kernel-api', managed_auth_session_id: flowId },
    })
  }

  /** Undefined unless it is a currently valid token for this place. */
  async admit(token: string, place: Place): Promise<Principal | undefined> {
    const verified = await this.#tokens.verify(token, AUDIENCE).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'unauthorized') return undefined
      throw error
    })
    if (!verified || verified.expiresAt <= Date.now()) return undefined
    const { sessionId: flowId } = verified
    const connectionId = await this.#connectionAt(place, flowId)
    if (connectionId === undefined) return undefined
    const connection = await findConnection(this.#db, null, connectionId)
    if (!connection || connection.deleted_at !== null || connection.flow_id !== flowId) return undefined
    return {
      keyId: flowId,
      projectId: connection.project_id,
      isProjectArchived: false,
      creator: { id: flowId, name: null, email: '' },
      flowId,
    }
  }

  async #connectionAt(place: Place, flowId: string): Promise<string | undefined> {
    if ('connectionId' in place) return place.connectionId
    return place.flowId === flowId ? (await findFlow(this.#db, flowId))?.connection_id : undefined
  }
}
