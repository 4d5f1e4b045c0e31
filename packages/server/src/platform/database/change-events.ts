// Everything that servers tell each other through PostgreSQL's NOTIFY, as typed events. On the wire an event is
// `word:field:field`. Words never change: servers of two versions may share a database, and so do triggers.
import { EventBus } from '@berth/kit/event-bus'

export interface ChangeEvents {
  masterKeysChanged: object
  keyChanged: { publicId: string }
  projectChanged: { projectId: string }
  sessionChanged: { sessionId: string }
  poolChanged: { poolId: string }
  /** Sessions start from another version of the profile now. */
  profileChanged: { profileId: string }
  /** No session is being saved into the profile any more, and it is what it was. */
  profileUnchanged: { profileId: string }
  replaysChanged: { sessionId: string }
  /** Events of a session were stored up to this sequence number. */
  telemetryStored: { sessionId: string; upTo: string }
  /** Another server left events for the server that has the session. */
  telemetryInboxFilled: { sessionId: string }
  jobQueued: object
  appEventsAdded: { deploymentId: string }
  deploymentChanged: { deploymentId: string }
  invocationChanged: { invocationId: string }
  /** The server that runs its login flow is named where there is one. */
  connectionChanged: { connectionId: string; serverId: string }
  /** A word that this version does not know. Whoever caches anything must drop all of it. */
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
  telemetryStored: { word: 'telemetry', fields: ['sessionId', 'upTo'] },
  telemetryInboxFilled: { word: 'telemetry-inbox', fields: ['sessionId'] },
  jobQueued: { word: 'app-jobs', fields: [] },
  appEventsAdded: { word: 'app-events', fields: ['deploymentId'] },
  deploymentChanged: { word: 'deployment', fields: ['deploymentId'] },
  invocationChanged: { word: 'invocation', fields: ['invocationId'] },
  connectionChanged: { word: 'auth-connection', fields: ['connectionId', 'serverId'] },
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
  // The first field is an id; without it nobody can tell what changed.
  if (fields.length > 0 && !values[0]) return { name: 'unknownChange', event: {} }
  const event = Object.fromEntries(fields.map((field, index) => [field, values[index] ?? '']))
  // SAFETY: the table above pairs each name with the fields of its event.
  return { name, event } as Change
}

export function emitChange(bus: ChangeBus, { name, event }: Change): void {
  bus.emit(name, event)
}
