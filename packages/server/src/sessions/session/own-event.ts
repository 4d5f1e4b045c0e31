import type { EventType } from '@berth/contracts/telemetry-events'

/** Something that a server itself knows of a session, for whoever follows its telemetry. */
export interface OwnEvent {
  readonly type: EventType
  readonly data?: object
}
