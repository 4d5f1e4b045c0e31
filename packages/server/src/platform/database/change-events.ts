// Every message that servers send each other through PostgreSQL's NOTIFY, as typed events. On the wire an event is
// `word:field:field`. Words never change, because servers of two versions and triggers share the database.
import { EventBus } from '@berth/kit/event-bus'

export interface ChangeEvents {
  masterKeysChanged: object
  keyChanged: { publicId: string }
  projectChanged: { projectId: string }
  sessionChanged: { sessionId: string }
  poolChanged: { poolId: string }
  /** Sessions now start from another version of the profile. */
  profileChanged: { profileId: string }
  /** No session is being saved into the profile any more, and the profile did not change. */
  profileUnchanged: { profileId: string }
  replaysChanged: { sessionId: string }
  /** A person has answered, or the caller no longer waits. */
  handoverChanged: { handoverId: string }
  /** A session's events are stored up to this sequence number. */
  telemetryStored: { sessionId: string; upTo: string }
  /** Another server left events for the server that runs the session. */
  telemetryInboxFilled: { sessionId: string }
  /** A destination has something to deliver, or has changed. */
  telemetryExportChanged: { destinationId: string }
  jobQueued: object
  appEventsAdded: { deploymentId: string }
  deploymentChanged: { deploymentId: string }
  invocationChanged: { invocationId: string }
  /** Names the server that runs the login flow, if there is one. */
  connectionChanged: { connectionId: string; serverId: string }
  /** Somebody changed a destination of the audit log. */
  auditExportsChanged: object
  /** A row that people list was made, changed or deleted; written by triggers. `projectId` is empty for the organisation's. */
  rowChanged: { kind: string; id: string; projectId: string }
  /** A server leaves its sessions to the others, where any server reaches any instance. */
  serverLeft: { serverId: string }
  /** This version does not know the word, so every cache must be dropped. */
  unknownChange: object
}

export type ChangeName = keyof ChangeEvents
export type Change = { [Name in ChangeName]: { name: Name; event: ChangeEvents[Name] } }[ChangeName]
export type ChangeBus = EventBus<ChangeEvents>

const wire: Record<ChangeName, { readonly word: string; readonly fields: readonly string[] }> = {
  masterKeysChanged: { word: 'master-keys', fields: [] },
  keyChanged: { word: 'key', fields: ['publicId'] },
  projectChanged: { word: 'project', fields: ['projectId'] },
  sessionChanged: { word: 'browser', fields: ['sessionId'] },
  poolChanged: { word: 'pool', fields: ['poolId'] },
  profileChanged: { word: 'profile', fields: ['profileId'] },
  profileUnchanged: { word: 'profile-unchanged', fields: ['profileId'] },
  replaysChanged: { word: 'replays', fields: ['sessionId'] },
  handoverChanged: { word: 'handover', fields: ['handoverId'] },
  telemetryStored: { word: 'telemetry', fields: ['sessionId', 'upTo'] },
  telemetryInboxFilled: { word: 'telemetry-inbox', fields: ['sessionId'] },
  telemetryExportChanged: { word: 'telemetry-export', fields: ['destinationId'] },
  jobQueued: { word: 'app-jobs', fields: [] },
  appEventsAdded: { word: 'app-events', fields: ['deploymentId'] },
  deploymentChanged: { word: 'deployment', fields: ['deploymentId'] },
  invocationChanged: { word: 'invocation', fields: ['invocationId'] },
  connectionChanged: { word: 'auth-connection', fields: ['connectionId', 'serverId'] },
  auditExportsChanged: { word: 'audit-exports', fields: [] },
  rowChanged: { word: 'row', fields: ['kind', 'id', 'projectId'] },
  serverLeft: { word: 'server-left', fields: ['serverId'] },
  unknownChange: { word: '', fields: [] },
}

const nameOfWord = new Map(Object.entries(wire).map(([name, { word }]) => [word, name as ChangeName]))

export function encodeChange<Name extends ChangeName>(name: Name, event: ChangeEvents[Name]): string {
  const { word, fields } = wire[name]
  return [word, ...fields.map((field) => (event as Record<string, string>)[field] ?? '')].join(':')
}

export function decodeChange(text: string): Change {
  const [word = '', ...values] = text.split(':')
  const name = nameOfWord.get(word) ?? 'unknownChange'
  const { fields } = wire[name]
  // The first field is an id; without it, the change cannot be identified.
  if (fields.length > 0 && !values[0]) return { name: 'unknownChange', event: {} }
  const event = Object.fromEntries(fields.map((field, index) => [field, values[index] ?? '']))
  // SAFETY: the table above pairs each name with the fields of its event.
  return { name, event } as Change
}

export function emitChange(bus: ChangeBus, { name, event }: Change): void {
  bus.emit(name, event)
}
