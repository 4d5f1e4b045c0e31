// Finds another server with room, and lets it start a session.
import type { Logger } from 'pino'
import { newId } from '@berth/kit/ids'
import type { ErrorCode } from '@berth/contracts/errors'
import type { RoomElsewhere, Search, StartedElsewhere, WantedSession } from '../browsers/room-elsewhere.ts'
import { listServersWithRoom, type ServerWithRoom } from '../browsers/store.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import type { Db } from '../../platform/database/schema.ts'
import { askToStart, Refused } from './ask-server.ts'
import { GivenSince } from './given-since.ts'
import { digestOf, START_TOKEN_SECONDS, startAudience } from './start-request.ts'

const MAX_ASKED = 4
/** Nobody is asked any more when so much time has passed: published clients give up after a minute. */
const PATIENCE_MS = 30_000
/** Every server would answer the same. */
const SAME_EVERYWHERE: ReadonlySet<ErrorCode> = new Set([
  'too_many_sessions',
  'already_exists',
  'storage_full',
])

export interface OtherRoomsOptions {
  readonly db: Db
  readonly tokens: Pick<SessionTokens, 'sign'>
  readonly certificate: Buffer | undefined
  readonly serverId: string
  readonly region: string
  /** Ends the row of a session of which it is not known how far the other server got. */
  readonly giveUp: (sessionId: string) => Promise<void>
  readonly log: Logger
}

export class OtherRooms implements RoomElsewhere {
  readonly #options: OtherRoomsOptions
  readonly #givenTo = new GivenSince()
  #given = 0

  constructor(options: OtherRoomsOptions) {
    this.#options = options
  }

  /** Sessions that others have started for this server. */
  get given(): number {
    return this.#given
  }

  async start(wanted: WantedSession, signal?: AbortSignal): Promise<Search> {
    const refusals: string[] = []
    const until = performance.now() + PATIENCE_MS
    for (const server of await this.#withRoom()) {
      if (performance.now() > until) break
      const answer = await this.#ask(server, wanted, signal)
      if (typeof answer !== 'string') return { started: answer, refusals }
      refusals.push(answer)
    }
    return { refusals }
  }

  async #withRoom(): Promise<ServerWithRoom[]> {
    const { db, serverId, region } = this.#options
    const found = await listServersWithRoom(db, { serverId, region })
    const left = (server: ServerWithRoom) => server.room - this.#givenTo.countOf(server)
    return found.toSorted((one, other) => left(other) - left(one)).slice(0, MAX_ASKED)
  }

  /** The reason, if it could not. */
  async #ask(
    server: ServerWithRoom,
    wanted: WantedSession,
    signal: AbortSignal | undefined,
  ): Promise<StartedElsewhere | string> {
    const { tokens, certificate, giveUp, log } = this.#options
    const { id: serverId, address } = server
    signal?.throwIfAborted()
    // Chosen here, so that this server can end the session whatever it hears.
    const id = newId()
    const body = Buffer.from(JSON.stringify({ id, ...wanted }))
    const digest = digestOf(body)
    const token = tokens.sign({
      sessionId: id,
      audience: [startAudience(serverId, digest)],
      lifeSeconds: START_TOKEN_SECONDS,
    })
    this.#givenTo.add(server)
    try {
      const held = await askToStart({ address, body, digest, token, certificate, signal })
      this.#given++
      log.info({ sessionId: id, serverId }, 'another server has started a session: this one has no room')
      return { id, ...held }
    } catch (error) {
      if (!(error instanceof Refused)) await giveUp(id)
      signal?.throwIfAborted()
      const answer = error instanceof Refused ? error.error : undefined
      if (answer && SAME_EVERYWHERE.has(answer.code)) throw answer
      log.info({ err: error, serverId, address }, 'another server could not start a session')
      return answer?.message.replace(/^Cannot create a session: /, '') ?? 'it could not be reached'
    }
  }
}
