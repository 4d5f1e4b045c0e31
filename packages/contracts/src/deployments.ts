// Deployments: code that was uploaded or fetched, built, and searched for apps.
import { Type, type Static } from 'typebox'
import { describedDeploymentEvent } from './app-events.ts'
import { AppAction, AppName, EnvNames, Region, sharedEvents, since } from './apps.ts'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, resourceId, Text, Timestamp } from './schema.ts'

const tag = 'Deployments'

export const deploymentStatuses = ['queued', 'in_progress', 'running', 'failed', 'stopped'] as const
export type DeploymentStatus = (typeof deploymentStatuses)[number]

export const Deployment = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the deployment' }),
    status: OneOf(deploymentStatuses, { description: 'Status; `failed` and `stopped` are final' }),
    status_reason: Type.Optional(
      Type.String({ description: 'Reason for the status, and what to do about it' }),
    ),
    region: Region,
    entrypoint_rel_path: Type.Optional(
      Type.String({ description: 'File that is imported, relative to the source' }),
    ),
    env_vars: Type.Optional(EnvNames),
    created_at: Timestamp('When the deployment was created'),
    updated_at: Type.Optional(
      Nullable(Timestamp('When the status last changed. Null before the first change')),
    ),
    source_type: Type.Optional(
      OneOf(['file', 'github'] as const, { description: 'Where the code came from' }),
    ),
    source_url: Type.Optional(Type.String({ description: 'URL of the repository' })),
    source_ref: Type.Optional(Type.String({ description: 'Branch, tag or commit' })),
    source_path: Type.Optional(Type.String({ description: 'Directory in the repository' })),
    source_checksum: Type.Optional(
      Type.String({ description: 'SHA-256 of the uploaded archive, in hexadecimal' }),
    ),
  },
  { title: 'Deployment' },
)
export type Deployment = Static<typeof Deployment>

export const DeploymentEvent = Type.Object(
  {
    ...sharedEvents,
    deployment: Type.Optional(Deployment),
    id: Type.Optional(Type.String({ description: 'For `app_version_summary`: id of the app version' })),
    app_name: Type.Optional(Type.String({ description: 'For `app_version_summary`: name of the app' })),
    version: Type.Optional(Type.String({ description: 'For `app_version_summary`: version label' })),
    region: Type.Optional(Region),
    actions: Type.Optional(
      Type.Array(AppAction, { description: 'For `app_version_summary`: actions of the app' }),
    ),
    env_vars: Type.Optional(EnvNames),
  },
  { title: 'DeploymentEvent' },
)
export type DeploymentEvent = Static<typeof DeploymentEvent>

export const MAX_ENV_VARS = 200

const params = Type.Object({ id: resourceId('deployment') })

export const createDeployment = operation({
  id: 'createDeployment',
  referenceIds: ['postDeployments'],
  tag,
  summary: 'Deploy an app',
  description:
    'Send a form with either a zip archive (`file` and `entrypoint_rel_path`) or a git repository (`source` as JSON, ' +
    'or fields such as `source[url]`). Berth builds the app in its own instance: it installs dependencies with npm, ' +
    'exactly as in package-lock.json, or with pip. Environment variables are fields such as `env_vars[NAME]`. ' +
    'Berth sets KERNEL_API_KEY, KERNEL_BASE_URL and ENTRYPOINT_RELPATH. ' +
    'Use `force` to replace an existing app version; its running invocations finish first.',
  method: 'POST',
  path: '/deployments',
  // The deployment gets a key.
  closedToApps: true,
  bodyStream: 'multipart',
  form: Type.Object({
    file: Type.Optional(
      Type.String({
        format: 'binary',
        contentMediaType: 'application/zip',
        description: 'Zip archive of the app directory',
      }),
    ),
    entrypoint_rel_path: Type.Optional(
      Type.String({
        description: 'File to import, relative to the root of the archive',
        examples: ['index.ts'],
      }),
    ),
    source: Type.Optional(
      Type.Object(
        {
          type: OneOf(['github'] as const, { description: 'Kind of source' }),
          url: Type.String({ description: 'Address of the repository' }),
          ref: Type.String({ description: 'Branch, tag or commit' }),
          entrypoint: Type.String({ description: 'File to import, relative to `path`' }),
          path: Type.Optional(Type.String({ description: 'Directory of the app in the repository' })),
          auth: Type.Optional(
            Type.Object({
              method: OneOf(['github_token'] as const, { description: 'Kind of access' }),
              token: Type.String({ description: 'Token that may read the repository' }),
            }),
          ),
        },
        { description: 'Git repository, as JSON text in the form, instead of `file`' },
      ),
    ),
    version: Type.Optional(Type.String({ description: 'Version label; `latest` when omitted' })),
    region: Type.Optional(Region),
    force: Type.Optional(
      Type.Boolean({ default: false, description: 'Replace an existing app version with the same label' }),
    ),
    env_vars: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'Environment variables; stored encrypted and never shown. As JSON text, or as a field `env_vars[NAME]` for each',
      }),
    ),
  }),
  effect: 'act',
  status: 201,
  response: Deployment,
  errors: [
    'bad_request',
    'payload_too_large',
    'storage_full',
    'insufficient_storage',
    'sessions_unavailable',
  ],
})

export const listDeployments = operation({
  id: 'listDeployments',
  referenceIds: ['getDeployments'],
  tag,
  summary: 'List deployments, newest first',
  method: 'GET',
  path: '/deployments',
  query: Type.Object({
    ...pageQuery,
    app_name: Type.Optional(AppName('Only deployments of this app')),
    app_version: Type.Optional(
      Text({ description: 'Only deployments with this version label; requires `app_name`', maxLength: 255 }),
    ),
    query: Type.Optional(
      Text({ description: 'Text to find in the deployment id or an app name', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(Deployment),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getDeployment = operation({
  id: 'getDeployment',
  referenceIds: ['getDeploymentsById'],
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
  referenceIds: ['deleteDeploymentsById'],
  tag,
  summary: 'Stop a deployment',
  description:
    'Its apps can no longer be invoked, unfinished invocations fail, and its API key stops working. Does nothing if the deployment has failed or is already stopped.',
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
  referenceIds: ['getDeploymentsEventsById'],
  tag,
  summary: 'Follow a deployment: its logs, states and app versions',
  description:
    'Starts with the stored events, which Berth keeps for BERTH_APP_LOG_RETENTION_DAYS days. Includes the logs of invocations. Ends when the deployment fails or stops.',
  method: 'GET',
  path: '/deployments/{id}/events',
  kind: 'events',
  contentType: 'text/event-stream',
  params,
  query: Type.Object({ since }),
  status: 200,
  response: DeploymentEvent,
  described: describedDeploymentEvent(Deployment),
  errors: ['bad_request', 'not_found', 'too_many_requests'],
})
