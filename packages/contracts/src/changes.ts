// What changed, as a stream, so that pages need not ask again and again.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { derivedScope, type OperationScope } from './scopes.ts'
import { Nullable, OneOf } from './schema.ts'

/** Each kind with the tag of the operations that read it. A key hears of what its scopes let it read. */
const tagOfKind = {
  browser: 'Browsers',
  browser_pool: 'Browser pools',
  replay: 'Replays',
  telemetry_destination: 'Telemetry',
  profile: 'Profiles',
  extension: 'Extensions',
  proxy: 'Proxies',
  auth_connection: 'Auth connections',
  credential: 'Credentials',
  credential_provider: 'Credential providers',
  deployment: 'Deployments',
  invocation: 'Invocations',
  webhook: 'Webhooks',
  project: 'Projects',
  organization: 'Organisation',
  api_key: 'API keys',
  audit_export: 'Audit log',
} as const

export type ChangeKind = keyof typeof tagOfKind
export const changeKinds = Object.keys(tagOfKind) as ChangeKind[]

export function scopeOfKind(kind: ChangeKind): OperationScope | null {
  return derivedScope({ tag: tagOfKind[kind], effect: 'read' })
}

/** Of one kind in one event; beyond, the event has no ids. */
export const MAX_CHANGED_IDS = 100

export const ChangeEvent = Type.Object(
  {
    kind: OneOf(['hello', 'heartbeat', ...changeKinds] as const, {
      description:
        '`hello`: read everything again. `heartbeat`: nothing happened. Otherwise the kind of what was created, changed or deleted',
    }),
    ids: Nullable(
      Type.Array(Type.String({ description: 'Id of one resource' }), {
        description: `Ids of what changed, at most ${MAX_CHANGED_IDS}. Null: read the list of this kind again`,
      }),
    ),
    kinds: Type.Optional(
      Type.Array(OneOf(changeKinds, { description: 'A kind' }), {
        description: 'With `hello`: the kinds that this key hears of',
      }),
    ),
  },
  { title: 'ChangeEvent' },
)
export type ChangeEvent = Static<typeof ChangeEvent>

export const followChanges = operation({
  id: 'followChanges',
  tag: 'Organisation',
  summary: 'Extension: follow what changes, as server-sent events',
  description: `For pages and programs that show lists and do not want to poll. An event says what changed, not how: read it again.

The stream begins with \`hello\`. Whenever \`hello\` comes again, changes may have been missed, for example while the database was away: read again all that you show. There is no \`Last-Event-ID\`; after a reconnect, \`hello\` is enough. Every 15 seconds comes a \`heartbeat\`.

Changes of half a second are one event for each kind. An event never says too little. It may say too much: an id may come twice, or may be of something that lists do not show, such as an idle browser of a pool. Sessions that start, go on standby, wake or end are seen within about a second; almost everything else at once. A change of a \`deployment\` may also change its apps.

A project key, or an organisation-wide key with a project header, hears of its project only. A key with scopes hears only of the families that it may read; \`hello\` lists them. The stream ends with its key and with the server; connect again. A reader that does not keep up is disconnected.`,
  method: 'GET',
  path: '/changes',
  needsNoScope: true,
  kind: 'events',
  status: 200,
  response: ChangeEvent,
  errors: ['too_many_requests', 'unavailable'],
})
