import type { EventType } from '@berth/contracts/telemetry-events'

/** A telemetry event of a session that the server itself creates. */
export interface OwnEvent {
  readonly type: EventType
  readonly data?: object
}
