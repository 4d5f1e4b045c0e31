import type { Handover, HandoverOutcome, HandoverState } from '@berth/contracts/handovers'
import { newId } from '@berth/kit/ids'
import { KeyedChanges } from '@berth/kit/keyed-changes'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import { newLink } from '../live-view/links.ts'
import type { Session } from '../session/session.ts'
import * as store from './store.ts'

const MAX_WAITING = 20
/** Announcements may be missed, and nobody announces that the time is over. */
const LOOK_EVERY_MS = 1_000
/** In the page's address, beside the token. */
export const HANDOVER_PARAMETER = 'handover'

const messageContext = (id: string) => `handovers/sealed_message/${id}`
const noteContext = (id: string) => `handovers/sealed_note/${id}`

export interface Answered {
  readonly outcome: HandoverOutcome
  readonly note: string | undefined
}

export class Handovers {
  readonly #db: Db
  readonly #box: SealedBox
  readonly #tokens: Pick<SessionTokens, 'sign'>
  readonly #changes = new KeyedChanges()

  constructor({ db, box, tokens }: { db: Db; box: SealedBox; tokens: Pick<SessionTokens, 'sign'> }) {
    this.#db = db
    this.#box = box
    this.#tokens = tokens
  }

  /** Called when any server has stored an answer. */
  announced(handoverId: string): void {
    this.#changes.changed(handoverId)
  }

  async create(
    tx: Db,
    session: Session,
    { message, lifeSeconds, origin }: { message: string; lifeSeconds: number; origin: string },
  ): Promise<Handover> {
    const { id: browserId, leaseNumber } = session
    if ((await store.countWaiting(tx, browserId)) >= MAX_WAITING) {
      throw new AppError(
        'too_many_requests',
        `Cannot hand the session over: ${MAX_WAITING} handovers of it are waiting; finish one first`,
        { headers: { 'retry-after': '5' } },
      )
    }
    const link = newLink(this.#tokens, {
      sessionId: browserId,
      leaseNumber,
      origin,
      mode: 'control',
      lifeSeconds,
    })
    const id = newId()
    const record = await store.insertHandover(tx, {
      id,
      browserId,
      leaseNumber,
      sealedMessage: this.#box.seal(message, messageContext(id)),
      expiresAt: new Date(link.expires_at),
    })
    return { ...this.#toHandover(record), url: `${link.url}&${HANDOVER_PARAMETER}=${record.id}` }
  }

  async get(db: Db, browserId: string, id: string): Promise<Handover> {
    const record = await store.findHandover(db, browserId, id)
    if (!record) throw new AppError('not_found', `Cannot find handover "${id}" of this session`)
    return this.#toHandover(record)
  }

  /** Resolves when it is over or after the time; rejects when the signal aborts first. */
  async wait(
    browserId: string,
    id: string,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Handover> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const left = Math.max(0, deadline - performance.now())
      using change = this.#changes.next(id, { timeoutMs: Math.min(LOOK_EVERY_MS, left), signal })
      const handover = await this.get(this.#db, browserId, id)
      if (handover.state !== 'waiting' || left === 0) return handover
      await change.happened
      signal.throwIfAborted()
    }
  }

  /** The first answer counts. */
  async finish(tx: Db, browserId: string, id: string, { outcome, note = '' }: Answered): Promise<Handover> {
    const before = await this.get(tx, browserId, id)
    if (before.state !== 'waiting') return before
    const sealedNote = note.trim() === '' ? null : this.#box.seal(note, noteContext(id))
    if (await store.endHandover(tx, id, { outcome, sealedNote })) {
      await announceChange(tx, 'handoverChanged', { handoverId: id })
    }
    return this.get(tx, browserId, id)
  }

  #toHandover(record: store.HandoverRecord): Handover {
    const { id, browser_id, sealed_message, sealed_note, created_at, expires_at, finished_at } = record
    return {
      id,
      session_id: browser_id,
      state: stateOf(record),
      message: sealed_message ? this.#box.open(sealed_message, messageContext(id)) : record.message,
      note: sealed_note ? this.#box.open(sealed_note, noteContext(id)) : record.note,
      created_at,
      expires_at,
      finished_at,
    }
  }
}

function stateOf(record: store.HandoverRecord): HandoverState {
  if (record.state !== 'waiting') return record.state
  if (record.is_session_over) return 'session_ended'
  return record.is_expired ? 'expired' : 'waiting'
}
