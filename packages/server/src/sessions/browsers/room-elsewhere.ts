// Sessions that another server starts, because this one has no room.
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { Age } from '../telemetry/selection.ts'

/** A request for a session that this server has checked. */
export interface WantedSession {
  readonly projectId: string
  readonly telemetryAge: Age
  readonly browser: CreateBrowserRequest
}

/** Runs on another server, with a row that is still `starting`: whoever asked for it makes it ready. */
export interface StartedElsewhere {
  readonly id: string
  /** Fires when the other server is gone or has given up. */
  readonly lost: AbortSignal
  /** Nothing more happens to the row. The other server looks at it, and ends the session unless it is ready. */
  release(): void
}

export interface Search {
  /** Undefined when no server could. */
  readonly started?: StartedElsewhere
  /** Why servers that were asked could not. */
  readonly refusals: readonly string[]
}

export interface RoomElsewhere {
  /** Throws what every server would answer, such as that the project has reached its limit. */
  start(wanted: WantedSession, signal?: AbortSignal): Promise<Search>
}

/** Another server that asks for a session. */
export interface Asker {
  /** Fires when it is gone. */
  readonly left: AbortSignal
  /** Says that the session runs. Resolves when the asker has released it, is gone, or took too long. */
  readonly released: () => Promise<void>
  /** Fires when this server stops. */
  readonly closing: AbortSignal
}
