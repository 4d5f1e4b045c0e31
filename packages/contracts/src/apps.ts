// Apps: the versions that deployments created, and the actions that clients can invoke.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, Text, Timestamp } from './schema.ts'

const tag = 'Apps'

/** The only region. Published clients insist on this name, which comes from the hosted service. */
export const REGION = 'aws.us-east-1a'
export const Region = OneOf([REGION], {
  description: 'Region. The only value exists for compatibility; apps run on this server',
})

export const AppName = (description: string) => Text({ description, minLength: 1, maxLength: 255 })
export const VersionLabel = Type.String({
  pattern: '^[A-Za-z0-9._+-]{1,255}$',
  description: 'Version label: letters, digits, dot, dash, plus, underscore',
})
/** Limits for names and actions, because they come from the app's own code. */
export const MAX_NAME_LENGTH = 255
export const MAX_APPS = 100
export const MAX_ACTIONS = 1000

const JsonSchema = (description: string) =>
  Type.Optional(
    Nullable(
      Type.Object(
        {},
        { additionalProperties: true, description: `${description}. Always null or absent in Berth` },
      ),
    ),
  )

export const AppAction = Type.Object(
  {
    name: Type.String({ description: 'Name of the action' }),
    input_schema: JsonSchema('JSON Schema of the payload'),
    output_schema: JsonSchema('JSON Schema of the output'),
  },
  { title: 'AppAction' },
)
export type AppAction = Static<typeof AppAction>

export const EnvNames = Type.Record(Type.String(), Type.String(), {
  description: 'Names of the environment variables; their values are never shown',
})

export const AppVersion = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the app version' }),
    app_name: Type.String({ description: 'Name of the app, as its code defines it' }),
    version: Type.String({ description: 'Version label' }),
    region: Region,
    deployment: Type.String({ description: 'Id of the deployment that created this version' }),
    actions: Type.Array(AppAction, { description: 'Actions that can be invoked' }),
    env_vars: EnvNames,
  },
  { title: 'AppVersion' },
)
export type AppVersion = Static<typeof AppVersion>

/** Fields that the event streams of deployments and invocations share. */
export const sharedEvents = {
  event: OneOf(
    ['log', 'deployment_state', 'app_version_summary', 'invocation_state', 'error', 'sse_heartbeat'] as const,
    { description: 'Type of the event; it determines which other fields are present' },
  ),
  timestamp: Timestamp('When the event happened'),
  message: Type.Optional(Type.String({ description: 'For `log`: one line, without the line break' })),
  error: Type.Optional(
    Type.Object(
      {
        code: Type.String({ description: 'Error code from the catalogue' }),
        message: Type.String({ description: 'What went wrong' }),
      },
      { description: 'For `error`: what went wrong' },
    ),
  ),
}

export const since = Type.Optional(
  Type.String({
    maxLength: 64,
    description: 'Start time: an RFC 3339 timestamp, or a duration before now such as `5m`',
  }),
)

export const listApps = operation({
  id: 'listApps',
  referenceIds: ['getApps'],
  tag,
  summary: 'List the app versions that can be invoked, newest first',
  method: 'GET',
  path: '/apps',
  query: Type.Object({
    ...pageQuery,
    app_name: Type.Optional(AppName('Only versions of this app')),
    version: Type.Optional(Text({ description: 'Only versions with this label', maxLength: 255 })),
    query: Type.Optional(
      Text({ description: 'Text to find in the app name or version label', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(AppVersion),
  paging: 'offset',
  errors: ['bad_request'],
})
