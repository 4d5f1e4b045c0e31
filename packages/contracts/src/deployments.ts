// Deployments: code that was uploaded or fetched, built, and asked for its apps.
import { Type, type Static } from 'typebox'
import { AppAction, AppName, EnvNames, Region, sharedEvents, since } from './apps.ts'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, resourceId, Text, Timestamp } from './schema.ts'

const tag = 'Deployments'

export const deploymentStatuses = ['queued', 'in_progress', 'running', 'failed', 'stopped'] as const
export type DeploymentStatus = (typeof deploymentStatuses)[number]

export const Deployment = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the deployment' }),
    status: OneOf(deploymentStatuses, { description: 'Where it is; failed and stopped are final' }),
    status_reason: Type.Optional(Type.String({ description: 'Why it is so, and what to do about it' })),
    region: Region,
    entrypoint_rel_path: Type.Optional(Type.String({ description: 'File that is imported, in the source' })),
    env_vars: Type.Optional(EnvNames),
    created_at: Timestamp('When it was asked for'),
    updated_at: Type.Optional(Nullable(Timestamp('When its status last changed; null until then'))),
    source_type: Type.Optional(
      OneOf(['file', 'github'] as const, { description: 'Where the code came from' }),
    ),
    source_url: Type.Optional(Type.String({ description: 'Of the repository' })),
    source_ref: Type.Optional(Type.String({ description: 'Branch, tag or commit' })),
    source_path: Type.Optional(Type.String({ description: 'Directory in the repository' })),
    source_checksum: Type.Optional(Type.String({ description: 'SHA-256 of the uploaded archive, in hex' })),
  },
  { title: 'Deployment' },
)
export type Deployment = Static<typeof Deployment>

export const DeploymentEvent = Type.Object(
  {
    ...sharedEvents,
    deployment: Type.Optional(Deployment),
    id: Type.Optional(Type.String({ description: 'Of `app_version_summary`: id of the app version' })),
    app_name: Type.Optional(Type.String({ description: 'Of `app_version_summary`' })),
    version: Type.Optional(Type.String({ description: 'Of `app_version_summary`' })),
    region: Type.Optional(Region),
    actions: Type.Optional(Type.Array(AppAction, { description: 'Of `app_version_summary`' })),
    env_vars: Type.Optional(EnvNames),
  },
  { title: 'DeploymentEvent' },
)
export type DeploymentEvent = Static<typeof DeploymentEvent>

/** What is unpacked, installed and kept has bounds of its own; see BERTH_APP_DISK_MB. */
export const MAX_ENV_VARS = 200

const params = Type.Object({ id: resourceId('deployment') })

export const createDeployment = operation({
  id: 'createDeployment',
  tag,
  summary: 'Deploy an app',
  description:
    'A form with either a zip archive (`file`, and `entrypoint_rel_path` in it), or a git repository (`source`: JSON, ' +
    'or fields such as `source[url]`). It is built in an instance of its own: dependencies by npm, with ' +
    'package-lock.json as it is, or by pip. Environment variables are fields such as `env_vars[NAME]`. ' +
    'KERNEL_API_KEY, KERNEL_BASE_URL and ENTRYPOINT_RELPATH are set for you. ' +
    'An app version that is there already is replaced only with `force`; its invocations finish first.',
  method: 'POST',
  path: '/deployments',
  bodyStream: 'multipart',
  form: Type.Object({
    file: Type.Optional(
      Type.String({
        contentMediaType: 'application/zip',
        description: 'Archive of the directory of the app',
      }),
    ),
    entrypoint_rel_path: Type.Optional(
      Type.String({ description: 'File to import, relative to the archive', examples: ['index.ts'] }),
    ),
    source: Type.Optional(
      Type.String({
        description:
          'Instead of a file, as JSON: `{type: "github", url, ref, entrypoint, path?, auth?: {method: "github_token", token}}`',
      }),
    ),
    version: Type.Optional(Type.String({ description: 'Label of the version; `latest` when omitted' })),
    region: Type.Optional(Region),
    force: Type.Optional(
      Type.Boolean({ default: false, description: 'Take the place of an app version of the same label' }),
    ),
    'env_vars[NAME]': Type.Optional(
      Type.String({ description: 'Environment variable; encrypted, never shown' }),
    ),
  }),
  effect: 'act',
  status: 201,
  response: Deployment,
  errors: ['bad_request', 'payload_too_large', 'insufficient_storage', 'sessions_unavailable'],
})

export const listDeployments = operation({
  id: 'listDeployments',
  tag,
  summary: 'List deployments, newest first',
  method: 'GET',
  path: '/deployments',
  query: Type.Object({
    ...pageQuery,
    app_name: Type.Optional(AppName('Only those that brought this app')),
    app_version: Type.Optional(
      Text({ description: 'Only those with this label; needs app_name', maxLength: 255 }),
    ),
    query: Type.Optional(Text({ description: 'Part of the id, or of the name of an app', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(Deployment),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getDeployment = operation({
  id: 'getDeployment',
  tag,
  summary: 'Get a deployment',
  method: 'GET',
  path: '/deployments/{id}',
  params,
  status: 200,
  response: Deployment,
  errors: ['not_found'],
})

export const deleteDeployment = operation({
  id: 'deleteDeployment',
  tag,
  summary: 'Stop a deployment',
  description:
    'Its apps can no longer be invoked, its invocations that are not over are failed, and its API key dies. One that has failed or was stopped is left as it is.',
  method: 'DELETE',
  path: '/deployments/{id}',
  kind: 'empty',
  params,
  effect: 'act',
  status: 204,
  errors: ['not_found'],
})

export const followDeployment = operation({
  id: 'followDeployment',
  tag,
  summary: 'Follow a deployment: its logs, states and app versions',
  description:
    'Begins with what is kept, which is everything for BERTH_APP_LOG_RETENTION_DAYS, and ends when the deployment has failed or was stopped. While it runs, the logs of its invocations are in it.',
  method: 'GET',
  path: '/deployments/{id}/events',
  kind: 'events',
  contentType: 'text/event-stream',
  params,
  query: Type.Object({ since }),
  status: 200,
  response: DeploymentEvent,
  errors: ['bad_request', 'not_found', 'too_many_requests'],
})
