// The pictures of several sessions as server-sent events for one reader, each when it has changed. A reader that is slow
// gets fewer pictures, and never old ones.
import { Readable } from 'node:stream'
import type { PreviewEvent } from '@berth/contracts/previews'
import { pause } from '@berth/kit/pause'
import { SSE_HEARTBEAT_MS, sseComment, sseEvent } from '@berth/kit/sse'
import type { Session } from '../session/session.ts'
import type { Pictures, Seen, Window } from './pictures.ts'

const PICTURE_EVERY_MS = 1_000
/** A session without a picture is asked less often, and one that has not changed in so many looks. */
const LOOK_EVERY_MS = 2_000
const STILL_AFTER_LOOKS = 5
/** A reader that reads nothing for this long is disconnected; it can connect again. */
const STALLED_MS = 30_000
const MAX_HELD_BYTES = 256 * 1024

/** `missing`: it exists but cannot be used at the moment. */
export type Found = Session | 'missing' | 'ended'

export interface StreamOptions {
  readonly ids: readonly string[]
  readonly width: number
  readonly pictures: Pictures
  /** Finds only sessions that the reader may see. */
  readonly find: (id: string) => Promise<Found>
}

export class PreviewStream extends Readable {
  readonly #options: StreamOptions
  readonly #closing = new AbortController()
  /** Resolved while the reader takes more. */
  #room = Promise.withResolvers<void>()
  #stalled: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined

  constructor(options: StreamOptions) {
    super({ highWaterMark: MAX_HELD_BYTES })
    this.#options = options
    this.#room.resolve()
    // The response headers are sent with the first bytes, and clients wait for them.
    this.push(sseComment('watching'))
    this.#heartbeat = setInterval(() => this.#push(sseComment('still here')), SSE_HEARTBEAT_MS)
    const watched = options.ids.map((id) => this.#watch(id))
    Promise.all(watched).then(
      () => this.#end(),
      (error: unknown) => this.destroy(error as Error),
    )
  }

  #end(): void {
    // Nothing may follow the end, however long the reader takes to read it.
    clearInterval(this.#heartbeat)
    if (!this.destroyed) this.push(null)
  }

  override _read(): void {
    clearTimeout(this.#stalled)
    this.#stalled = undefined
    this.#room.resolve()
  }

  /** Resolves when the session has ended, or when the reader has left. */
  async #watch(id: string): Promise<void> {
    const { signal } = this.#closing
    let told: string | undefined
    for (;;) {
      const found = await this.#options.find(id).catch((): Found => 'missing')
      if (signal.aborted) return
      const isUsable = typeof found === 'object'
      if (!isUsable) {
        const state = found === 'missing' ? 'unavailable' : 'ended'
        if (told !== state) this.#tell({ id, state })
        told = state
        if (found === 'ended') return
        await pause(LOOK_EVERY_MS, signal)
        continue
      }
      using window = this.#options.pictures.open(found, this.#options.width)
      told = await this.#look(id, { session: found, window, told })
      if (signal.aborted) return
    }
  }

  /** Resolves when the session must be found again. */
  async #look(
    id: string,
    { session, window, told: before }: { session: Session; window: Window; told: string | undefined },
  ): Promise<string | undefined> {
    const { signal } = this.#closing
    let told = before
    let unchanged = 0
    for (;;) {
      await this.#room.promise
      if (signal.aborted) return told
      let seen: Seen
      try {
        seen = await window.look(session)
      } catch {
        return told
      }
      if (signal.aborted) return told
      const now = seen.state === 'picture' ? seen.etag : seen.state
      unchanged = now === told ? unchanged + 1 : 0
      if (now !== told) this.#tell({ id, ...seen })
      told = now
      const isQuick = seen.state === 'picture' && unchanged < STILL_AFTER_LOOKS
      await pause(isQuick ? PICTURE_EVERY_MS : LOOK_EVERY_MS, signal)
      // It may be on another server by now.
      if (seen.state === 'unavailable' || session.ending.aborted) return told
    }
  }

  #tell(event: PreviewEvent): void {
    this.#push(sseEvent(event))
  }

  #push(text: string): void {
    if (this.destroyed || this.push(text) || this.#stalled) return
    this.#room = Promise.withResolvers()
    this.#stalled = setTimeout(() => this.destroy(), STALLED_MS)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#stalled)
    this.#closing.abort()
    this.#room.resolve()
    done(error)
  }
}
