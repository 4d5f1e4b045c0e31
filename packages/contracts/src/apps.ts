// Apps: what a deployment brought, and what can be invoked of it.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, Text, Timestamp } from './schema.ts'

const tag = 'Apps'

/** The one region there is: the name is the hosted original's, which its clients insist on. */
export const REGION = 'aws.us-east-1a'
export const Region = OneOf([REGION], { description: 'Where it runs: here, whatever the name says' })

export const AppName = (description: string) => Text({ description, minLength: 1, maxLength: 255 })
export const VersionLabel = Type.String({
  pattern: '^[A-Za-z0-9._+-]{1,255}$',
  description: 'Label of the version: letters, digits, dot, dash, plus, underscore',
})
/** Of names that an app gives itself, and that come from its own code. */
export const MAX_NAME_LENGTH = 255
export const MAX_APPS = 100
export const MAX_ACTIONS = 1000

const JsonSchema = (description: string) =>
  Type.Optional(
    Nullable(Type.Object({}, { additionalProperties: true, description: `${description}; none is known` })),
  )

export const AppAction = Type.Object(
  {
    name: Type.String({ description: 'Name of the action' }),
    input_schema: JsonSchema('JSON Schema of its payload'),
    output_schema: JsonSchema('JSON Schema of its output'),
  },
  { title: 'AppAction' },
)
export type AppAction = Static<typeof AppAction>

export const EnvNames = Type.Record(Type.String(), Type.String(), {
  description: 'Names of its environment variables; their values are never shown',
})

export const AppVersion = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the app version' }),
    app_name: Type.String({ description: 'Name of the app, as its code says' }),
    version: Type.String({ description: 'Label of the version' }),
    region: Region,
    deployment: Type.String({ description: 'Id of the deployment that brought it' }),
    actions: Type.Array(AppAction, { description: 'What can be invoked' }),
    env_vars: EnvNames,
  },
  { title: 'AppVersion' },
)
export type AppVersion = Static<typeof AppVersion>

/** Of both streams of events. */
export const sharedEvents = {
  event: OneOf(
    ['log', 'deployment_state', 'app_version_summary', 'invocation_state', 'error', 'sse_heartbeat'] as const,
    { description: 'What it tells; the fields that it has follow from it' },
  ),
  timestamp: Timestamp('When it happened'),
  message: Type.Optional(Type.String({ description: 'Of `log`: one line, without its end' })),
  error: Type.Optional(
    Type.Object(
      { code: Type.String({ description: 'As in any error' }), message: Type.String({ description: 'Why' }) },
      { description: 'Of `error`' },
    ),
  ),
}

export const since = Type.Optional(
  Type.String({
    maxLength: 64,
    description: 'Only what happened since: RFC 3339, or how long ago, such as `5m`',
  }),
)

export const listApps = operation({
  id: 'listApps',
  tag,
  summary: 'List the app versions that can be invoked, newest first',
  method: 'GET',
  path: '/apps',
  query: Type.Object({
    ...pageQuery,
    app_name: Type.Optional(AppName('Only of this app')),
    version: Type.Optional(Text({ description: 'Only this label', maxLength: 255 })),
    query: Type.Optional(
      Text({ description: 'Part of the name of the app, or of the label', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(AppVersion),
  paging: 'offset',
  errors: ['bad_request'],
})
