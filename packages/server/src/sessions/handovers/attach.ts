// What the page of the live view asks about a handover, and the person's answer. They are not in the contract, because
// only the page calls them, with the token of its link.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { MAX_HANDOVER_TEXT, type Handover } from '@berth/contracts/handovers'
import { changesAnnouncedIn } from '../../platform/database/changes.ts'
import type { Change } from '../../platform/database/change-events.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import { admitFor, type AdmissionOptions } from '../gateway/upgrade.ts'
import { checkTime, isOnlyWatching } from '../live-view/viewers.ts'
import { LIVE_PATH, liveAudiences } from '../session/target.ts'
import { HANDOVER_PARAMETER, type Handovers } from './service.ts'

const URL_PATH = `${LIVE_PATH}/handover`

export interface HandoverPageOptions extends AdmissionOptions {
  readonly handovers: Handovers
  readonly db: Db
  readonly pool: Pool
  /** Called after the commit, for those who wait at this server. */
  readonly onChange: (change: Change) => void
}

export function attachHandovers(server: FastifyInstance, options: HandoverPageOptions): void {
  const onRequest = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    request.route = URL_PATH
    done()
  }
  server.get(URL_PATH, { onRequest }, async (request, reply) => {
    const { sessionId, id } = await admitted(request, options)
    return show(reply, await options.handovers.get(options.db, sessionId, id))
  })
  server.post(URL_PATH, { onRequest, bodyLimit: 16 * MAX_HANDOVER_TEXT }, async (request, reply) => {
    const { sessionId, id } = await admitted(request, options)
    const answer = answerIn(request.body)
    let changes: readonly Change[] = []
    const handover = await inTransaction(options.pool, async ({ db: tx }) => {
      const finished = await options.handovers.finish(tx, sessionId, id, answer)
      changes = changesAnnouncedIn(tx)
      return finished
    })
    changes.forEach(options.onChange)
    return show(reply, handover)
  })
}

async function admitted(request: FastifyRequest, options: AdmissionOptions) {
  const grant = await admitFor(request.raw, options, [liveAudiences.control])
  checkTime(grant)
  if (isOnlyWatching(grant)) {
    throw new AppError('forbidden', 'Cannot answer for the person: this link is for watching only')
  }
  const id = grant.query.get(HANDOVER_PARAMETER) ?? ''
  return { sessionId: grant.sessionId, id }
}

function answerIn(body: unknown): { outcome: 'done' | 'declined'; note: string | undefined } {
  const { outcome, note } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  if (outcome !== 'done' && outcome !== 'declined') {
    throw invalidInput('outcome', 'must be "done" or "declined"')
  }
  if (note !== undefined && (typeof note !== 'string' || note.length > MAX_HANDOVER_TEXT)) {
    throw invalidInput('note', `must be a text of at most ${MAX_HANDOVER_TEXT} characters`)
  }
  // PostgreSQL cannot store the null character.
  return { outcome, note: note?.toWellFormed().replaceAll('\0', '') }
}

function show(reply: FastifyReply, { message, state, expires_at }: Handover): FastifyReply {
  return reply.header('cache-control', 'no-store').send({ message, state, expires_at })
}
