// A flow's token: the hosted login page uses it instead of an API key. It grants access to one connection, only while
// the flow is the connection's latest.
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { SessionTokens, type TokenKey } from '../../sessions/gateway/tokens.ts'
import type { Principal } from '../../http/principal.ts'
import { findConnection } from './store.ts'

const AUDIENCE = 'login-flow'
const LIFE_SECONDS = 30 * 60

export class FlowTokens {
  readonly #db: Db
  /** The same format as session tokens, with its own key. */
  readonly #tokens: SessionTokens

  constructor({ db, key }: { db: Db; key: TokenKey }) {
    this.#db = db
    this.#tokens = new SessionTokens({ keys: [key] })
  }

  sign(flowId: string): string {
    return this.#tokens.sign({ sessionId: flowId, audience: [AUDIENCE], lifeSeconds: LIFE_SECONDS })
  }

  /** Undefined unless it is a currently valid token for this connection. */
  async admit(token: string, connectionId: string): Promise<Principal | undefined> {
    const verified = await this.#tokens.verify(token, AUDIENCE).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'unauthorized') return undefined
      throw error
    })
    if (!verified || verified.expiresAt <= Date.now()) return undefined
    const { sessionId: flowId } = verified
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
}
