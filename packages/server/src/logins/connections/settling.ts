// The last step of a successful login: its session has ended and is being saved into the profile. When it is saved,
// one transaction makes the flow a success, with everything that was learned. Any server may do this, once.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { pause } from '@berth/kit/pause'
import type { LoginOutcome } from '@berth/login/run/run'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { CredentialResolver } from '../credentials/resolver.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import type { SaveWatch } from '../../sessions/profiles/save-watch.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { endFlow } from './flow-ends.ts'
import * as flows from './flow-store.ts'
import { nextCheck } from './schedule.ts'
import { places } from './sealed-places.ts'
import * as store from './store.ts'
import type { ConnectionRecord, FlowRecord, Memory } from './types.ts'

type Success = LoginOutcome & { readonly isSuccess: true }

const MAX_ATTEMPTS = 3
const RETRY_MS = 500

export function sealOutcome(box: SealedBox, flowId: string, outcome: Success): Buffer {
  return box.seal(JSON.stringify(outcome), places.outcome(flowId))
}

export function readMemory(
  box: SealedBox,
  connectionId: string,
  sealed: Buffer | null,
): Partial<Pick<Memory, 'checks'>> & Pick<Memory, 'plan'> {
  if (sealed === null) return { plan: undefined }
  // SAFETY: we sealed it below.
  return JSON.parse(box.open(sealed, places.memory(connectionId))) as Memory
}

export interface FlowSettlingOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly saves: Pick<SaveWatch, 'whenSaved'>
  readonly credentials: Pick<CredentialResolver, 'keep'>
  readonly log: Logger
}

export class FlowSettling {
  readonly #options: FlowSettlingOptions

  constructor(options: FlowSettlingOptions) {
    this.#options = options
  }

  /** Resolves when the flow has ended or the signal fires; then the next reconciliation continues. */
  async whenSaved(
    flowId: string,
    { sessionId, profileId }: { sessionId: string; profileId: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { db, saves, log } = this.#options
    while (!signal.aborted) {
      try {
        const state = await flows.saveStateOf(db, sessionId)
        if (state?.profile_save !== 'saving') return await this.settle(flowId)
        await saves.whenSaved(profileId)
      } catch (error) {
        log.warn({ err: error, flowId }, 'cannot read yet whether a login was saved')
        await pause(RETRY_MS, signal)
      }
    }
  }

  /** Does nothing for a flow that has ended, or whose profile is still being saved. */
  async settle(flowId: string): Promise<void> {
    const { log } = this.#options
    crashPoint('login-profile-saved')
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#settle(flowId, { keepsValues: true })
        break
      } catch (error) {
        log.warn({ err: error, flowId, attempt }, 'cannot record the success of a login yet')
        if (attempt < MAX_ATTEMPTS) continue
        // The login matters more than the values that were typed for it.
        await this.#settle(flowId, { keepsValues: false })
        break
      }
    }
    crashPoint('login-settled')
  }

  async #settle(flowId: string, { keepsValues }: { keepsValues: boolean }): Promise<void> {
    const { pool, box } = this.#options
    await inTransaction(pool, async ({ db: tx }) => {
      const before = await flows.findFlow(tx, flowId)
      const connection = before && (await store.lockConnection(tx, before.connection_id))
      const flow = await flows.lockFlow(tx, flowId)
      if (flow?.state !== 'SAVING' || flow.outcome === null || flow.browser_id === null) return
      const save = await flows.saveStateOf(tx, flow.browser_id)
      if (save?.profile_save === 'saving') return
      const isSaved = save?.profile_save === 'saved' || save?.profile_save === 'conflict'
      if (!isSaved || !connection) {
        const why = save?.profile_save_message ?? 'its session was lost'
        await endFlow(tx, flowId, 'fails', {
          error_code: 'browser_error',
          error_message: `The login succeeded, but the profile could not be saved: ${why}`,
        })
        return
      }
      // SAFETY: we sealed it above.
      const outcome = JSON.parse(box.open(flow.outcome, places.outcome(flowId))) as Success
      await flows.transition(tx, flowId, 'succeeds', { sso_provider: outcome.ssoProvider ?? null })
      await this.#learn(tx, { connection, flow, outcome, keepsValues })
    })
  }

  async #learn(
    tx: Db,
    learned: { connection: ConnectionRecord; flow: FlowRecord; outcome: Success; keepsValues: boolean },
  ): Promise<void> {
    const { box, credentials } = this.#options
    const { connection, flow, outcome, keepsValues } = learned
    const { id, project_id: projectId, credential, domain } = connection
    const memory: Memory = { plan: outcome.plan, checks: outcome.checks }
    const kept =
      keepsValues && (connection.save_credentials || flow.save_as !== null || flow.adds_passkey)
        ? await credentials.keep(tx, projectId, {
            reference: credential ?? undefined,
            domain,
            // Somebody may have asked for the passkey alone.
            values: connection.save_credentials || flow.save_as !== null ? outcome.values : {},
            passkeys: outcome.passkeys ?? [],
            ssoProvider: outcome.ssoProvider,
            typedAt: outcome.typedAt ?? [],
            name: flow.save_as ?? undefined,
          })
        : undefined
    const now = new Date().toISOString()
    const sealed = box.seal(JSON.stringify(memory), places.memory(id))
    await store.updateConnection(tx, id, {
      status: 'AUTHENTICATED',
      memory: sealed,
      has_plan: outcome.plan !== undefined && outcome.plan.steps.length > 0,
      // If it was already signed in, the requirements of an earlier login still apply.
      ...(outcome.requirements.length > 0 || connection.requirements === null
        ? { requirements: [...outcome.requirements] }
        : {}),
      learned_login_url: outcome.loginUrl || connection.learned_login_url,
      post_login_url: outcome.postLoginUrl,
      sso_provider: outcome.ssoProvider ?? null,
      ...(kept && { credential: JSON.stringify(kept) }),
      last_success_at: now,
      is_reauth_stopped: false,
      next_check_at: nextCheck({ ...connection, memory: sealed, last_success_at: now }),
    })
  }
}
