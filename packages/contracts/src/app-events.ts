// The events of deployments and invocations, by type. Only the OpenAPI document uses it; `sharedEvents` of apps.ts says what
// the server needs.
import { Type, type TProperties, type TSchema } from 'typebox'
import { AppAction, EnvNames, Region } from './apps.ts'
import { Timestamp } from './schema.ts'

const event = (name: string, title: string, fields: TProperties) =>
  Type.Object(
    {
      event: Type.Unsafe({ type: 'string', const: name, description: 'Type of the event' }),
      timestamp: Timestamp('When the event happened'),
      ...fields,
    },
    { title },
  )

const shared: Readonly<Record<string, TSchema>> = {
  log: event('log', 'LogLineEvent', {
    message: Type.String({ description: 'One line, without the line break' }),
  }),
  error: event('error', 'ErrorEvent', {
    error: Type.Object(
      {
        code: Type.String({ description: 'Error code from the catalogue' }),
        message: Type.String({ description: 'What went wrong' }),
      },
      { title: 'EventError' },
    ),
  }),
  sse_heartbeat: event('sse_heartbeat', 'HeartbeatEvent', {}),
}

function union(title: string, variants: Readonly<Record<string, TSchema>>): TSchema {
  return Type.Unsafe({
    title,
    oneOf: Object.values(variants),
    discriminator: {
      propertyName: 'event',
      mapping: Object.fromEntries(
        Object.entries(variants).map(([name, variant]) => [
          name,
          `#/components/schemas/${(variant as { title?: string }).title}`,
        ]),
      ),
    },
  })
}

export const describedInvocationEvent = (invocation: TSchema) =>
  union('InvocationEvent', {
    invocation_state: event('invocation_state', 'InvocationStateEvent', { invocation }),
    ...shared,
  })

export const describedDeploymentEvent = (deployment: TSchema) =>
  union('DeploymentEvent', {
    deployment_state: event('deployment_state', 'DeploymentStateEvent', { deployment }),
    app_version_summary: event('app_version_summary', 'AppVersionSummaryEvent', {
      id: Type.String({ description: 'Id of the app version' }),
      app_name: Type.String({ description: 'Name of the app' }),
      version: Type.String({ description: 'Version label' }),
      region: Region,
      actions: Type.Array(AppAction, { description: 'Actions of the app' }),
      env_vars: Type.Optional(EnvNames),
    }),
    ...shared,
  })
