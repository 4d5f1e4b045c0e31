import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, Strict } from './schema.ts'

const tag = 'Organisation'

export const OrganizationLimits = Type.Object(
  {
    max_concurrent_sessions: Type.Integer({
      description: 'Most browser sessions at once in the whole organisation; set by the operator',
    }),
    max_concurrent_invocations: Type.Integer({
      description: 'Most app invocations at once in the whole organisation; set by the operator',
    }),
    max_pooled_sessions: Type.Integer({
      description: 'Most pooled sessions in the whole organisation; set by the operator',
    }),
    default_project_max_concurrent_sessions: Nullable(
      Type.Integer({
        description: 'Cap of every project that has none of its own. Null means no such default',
      }),
    ),
  },
  { title: 'OrganizationLimits' },
)
export type OrganizationLimits = Static<typeof OrganizationLimits>

export const getOrganizationLimits = operation({
  id: 'getOrganizationLimits',
  tag,
  summary: 'Get the limits of the organisation',
  method: 'GET',
  path: '/org/limits',
  status: 200,
  response: OrganizationLimits,
})

export const updateOrganizationLimits = operation({
  id: 'updateOrganizationLimits',
  tag,
  summary: 'Set the default session cap of projects',
  method: 'PATCH',
  path: '/org/limits',
  auth: 'organization-key',
  body: Strict({
    default_project_max_concurrent_sessions: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000,
          description:
            'Not above the organisation limit. 0 or null removes the default; omit to leave it unchanged',
        }),
      ),
    ),
  }),
  bodyOptional: true,
  status: 200,
  response: OrganizationLimits,
  errors: ['bad_request', 'forbidden'],
})
