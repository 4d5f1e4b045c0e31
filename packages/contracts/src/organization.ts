import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, Open } from './schema.ts'

const tag = 'Organisation'

export const OrganizationLimits = Type.Object(
  {
    max_concurrent_sessions: Type.Integer({
      description: 'Maximum number of concurrent browser sessions in the organisation; set by the operator',
    }),
    max_concurrent_invocations: Type.Integer({
      description: 'Maximum number of concurrent app invocations in the organisation; set by the operator',
    }),
    max_pooled_sessions: Type.Integer({
      description: 'Maximum number of pooled sessions in the organisation; set by the operator',
    }),
    default_project_max_concurrent_sessions: Nullable(
      Type.Integer({
        description: 'Session limit of each project without its own limit. Null means no default limit',
      }),
    ),
    concurrent_sessions_used: Type.Integer({
      description:
        'Places for sessions that are taken now; a pool takes its full size. With a project key: those of its project',
    }),
    concurrent_sessions_available: Nullable(
      Type.Integer({
        description:
          'How many sessions can be created now. With a project key, the limit of its project counts too. Null means any number',
      }),
    ),
    auth_connections_used: Type.Integer({
      description: 'Number of auth connections. With a project key: those of its project',
    }),
    max_auth_connections: Nullable(
      Type.Integer({ description: 'Maximum number of auth connections. Null means any number' }),
    ),
    min_health_check_interval_seconds: Type.Integer({
      description: 'Shortest interval between health checks that an auth connection may have',
    }),
    vaults_used: Type.Integer({ description: 'Number of vaults. Berth has none' }),
    max_vaults: Nullable(Type.Integer({ description: 'Maximum number of vaults. Berth has none, so 0' })),
  },
  { title: 'OrganizationLimits' },
)
export type OrganizationLimits = Static<typeof OrganizationLimits>

export const getOrganizationLimits = operation({
  id: 'getOrganizationLimits',
  referenceIds: ['getOrgLimits'],
  tag,
  summary: 'Get the limits of the organisation',
  method: 'GET',
  path: '/org/limits',
  status: 200,
  response: OrganizationLimits,
})

export const updateOrganizationLimits = operation({
  id: 'updateOrganizationLimits',
  referenceIds: ['patchOrgLimits'],
  tag,
  summary: 'Set the default session limit of projects',
  method: 'PATCH',
  path: '/org/limits',
  auth: 'organization-key',
  body: Open({
    default_project_max_concurrent_sessions: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000,
          description:
            'Must not exceed the limit of the organisation. 0 or null removes the default; omit to keep it',
        }),
      ),
    ),
  }),
  bodyOptional: true,
  status: 200,
  response: OrganizationLimits,
  errors: ['bad_request', 'forbidden'],
})
