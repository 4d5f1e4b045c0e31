import { Type, type Static, type TInteger } from 'typebox'
import { operation } from './operation.ts'
import { boundedPageQuery, idOrName, Nullable, OneOf, Open, Text, Timestamp } from './schema.ts'

const tag = 'Projects'
const projectStatus = ['active', 'archived'] as const
export type ProjectStatus = (typeof projectStatus)[number]

const ProjectName = Text({
  description: 'Project name, unique within the organisation. A new name must not contain `/` or `%`',
  minLength: 1,
  maxLength: 255,
})

export const Project = Type.Object(
  {
    id: Type.String({ description: 'Unique project id' }),
    name: Type.String({ description: 'Project name' }),
    status: OneOf(projectStatus, { description: 'An archived project cannot be used' }),
    created_at: Timestamp('When the project was created'),
    updated_at: Timestamp('When the project was last changed'),
  },
  { title: 'Project' },
)
export type Project = Static<typeof Project>

const cap = (what: string) =>
  Nullable(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: `Maximum number of concurrent ${what}. 0 or null removes the limit; omit to keep it`,
    }),
  )
const capRead = (what: string) =>
  Nullable(
    Type.Integer({
      description: `Maximum number of concurrent ${what}. Null means that the project has no own limit`,
    }),
  )

const MAX_STORAGE_BYTES = 10 ** 15

export const ProjectLimits = Type.Object(
  {
    max_concurrent_sessions: capRead('browser sessions'),
    max_concurrent_invocations: capRead('app invocations'),
    max_pooled_sessions: capRead('pooled sessions'),
    max_storage_bytes: Nullable(
      Type.Integer({
        description:
          'Extension: how many bytes the project may store. Null means as many as the operator has set for every project',
      }),
    ),
  },
  { title: 'ProjectLimits' },
)
export type ProjectLimits = Static<typeof ProjectLimits>

export const UpdateProjectLimitsRequest = Open({
  max_concurrent_sessions: Type.Optional(cap('browser sessions')),
  max_concurrent_invocations: Type.Optional(cap('app invocations')),
  max_pooled_sessions: Type.Optional(cap('pooled sessions')),
  max_storage_bytes: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: MAX_STORAGE_BYTES,
        description:
          'Extension: how many bytes the project may store. 0 or null restores what the operator has set; omit to keep it',
      }),
    ),
  ),
})
export type UpdateProjectLimitsRequest = Static<typeof UpdateProjectLimitsRequest>

/** What a project stores. */
export const storageKinds = ['profiles', 'replays', 'telemetry', 'extensions', 'deployments'] as const
export type StorageKind = (typeof storageKinds)[number]

const bytesOf: Record<StorageKind, string> = {
  profiles: 'All versions of all profiles',
  replays: 'Recordings, also those that are running',
  telemetry: 'Telemetry events',
  extensions: 'Extensions',
  deployments: 'Source and built files of apps',
}
const kindFields = Object.fromEntries(
  storageKinds.map((kind) => [kind, Type.Integer({ description: bytesOf[kind] })]),
) as Record<StorageKind, TInteger>

export const ProjectStorage = Type.Object(
  {
    max_bytes: Nullable(
      Type.Integer({ description: 'How many bytes the project may store. Null: any number' }),
    ),
    used_bytes: Type.Integer({ description: 'How many bytes it stores now, compressed as they are kept' }),
    by_kind: Type.Object(kindFields, { description: 'The same by what it is' }),
  },
  { title: 'ProjectStorage' },
)
export type ProjectStorage = Static<typeof ProjectStorage>

const params = Type.Object({ id: idOrName('project') })

export const createProject = operation({
  id: 'createProject',
  referenceIds: ['postOrgProjects', 'postProjects'],
  tag,
  summary: 'Create a project',
  method: 'POST',
  path: '/org/projects',
  aliases: ['/projects'],
  auth: 'organization-key',
  body: Open({ name: ProjectName }),
  status: 201,
  response: Project,
  errors: ['bad_request', 'forbidden', 'already_exists'],
})

export const listProjects = operation({
  id: 'listProjects',
  referenceIds: ['getOrgProjects', 'getProjects'],
  tag,
  summary: 'List projects, newest first',
  method: 'GET',
  path: '/org/projects',
  aliases: ['/projects'],
  query: Type.Object({
    ...boundedPageQuery,
    query: Type.Optional(
      Text({ description: 'Case-insensitive text to find in the project name', maxLength: 255 }),
    ),
    name: Type.Optional(Text({ description: 'Exact project name', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(Project),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getProject = operation({
  id: 'getProject',
  referenceIds: ['getOrgProjectsId', 'getProjectsId'],
  tag,
  summary: 'Get a project by id or name',
  method: 'GET',
  path: '/org/projects/{id}',
  aliases: ['/projects/{id}'],
  params,
  status: 200,
  response: Project,
  errors: ['not_found'],
})

export const updateProject = operation({
  id: 'updateProject',
  referenceIds: ['patchOrgProjectsId', 'patchProjectsId'],
  tag,
  summary: 'Rename, archive or restore a project',
  method: 'PATCH',
  path: '/org/projects/{id}',
  aliases: ['/projects/{id}'],
  params,
  body: Open({
    name: Type.Optional(ProjectName),
    status: Type.Optional(
      OneOf(projectStatus, {
        description: 'Archives or restores the project; requires an organisation-wide key',
      }),
    ),
  }),
  bodyOptional: true,
  status: 200,
  response: Project,
  errors: ['bad_request', 'forbidden', 'not_found', 'already_exists', 'last_active_project'],
})

export const deleteProject = operation({
  id: 'deleteProject',
  referenceIds: ['deleteOrgProjectsId', 'deleteProjectsId'],
  tag,
  summary: 'Delete an empty project',
  method: 'DELETE',
  path: '/org/projects/{id}',
  aliases: ['/projects/{id}'],
  auth: 'organization-key',
  kind: 'empty',
  params,
  status: 204,
  errors: ['forbidden', 'not_found', 'last_active_project', 'project_not_empty'],
})

export const getProjectLimits = operation({
  id: 'getProjectLimits',
  referenceIds: ['getOrgProjectLimits', 'getProjectLimits'],
  tag,
  summary: 'Get the limits of a project',
  method: 'GET',
  path: '/org/projects/{id}/limits',
  aliases: ['/projects/{id}/limits'],
  params,
  status: 200,
  response: ProjectLimits,
  errors: ['not_found'],
})

export const updateProjectLimits = operation({
  id: 'updateProjectLimits',
  referenceIds: ['patchOrgProjectLimits', 'patchProjectLimits'],
  tag,
  summary: 'Update the limits of a project',
  method: 'PATCH',
  path: '/org/projects/{id}/limits',
  aliases: ['/projects/{id}/limits'],
  auth: 'organization-key',
  params,
  body: UpdateProjectLimitsRequest,
  bodyOptional: true,
  status: 200,
  response: ProjectLimits,
  errors: ['bad_request', 'forbidden', 'not_found'],
})

export const getProjectStorage = operation({
  id: 'getProjectStorage',
  tag,
  summary: 'Get how much a project stores, and how much it may',
  method: 'GET',
  path: '/org/projects/{id}/storage',
  aliases: ['/projects/{id}/storage'],
  params,
  status: 200,
  response: ProjectStorage,
  errors: ['not_found'],
})
