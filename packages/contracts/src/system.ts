// Health, metrics and documentation of the server itself.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { OneOf } from './schema.ts'

const tag = 'System'
const Health = Type.Object(
  {
    status: OneOf(['ok'] as const, { description: 'Always `ok`' }),
    version: Type.String({ description: 'Version of Berth' }),
  },
  { title: 'Health' },
)

export const getHealth = operation({
  id: 'getHealth',
  tag,
  summary: 'Check whether the server process is alive',
  method: 'GET',
  path: '/health',
  auth: 'none',
  status: 200,
  response: Health,
})

export const componentStatuses = [
  'operational',
  'degraded_performance',
  'partial_outage',
  'full_outage',
  'maintenance',
] as const
export type ComponentStatus = (typeof componentStatuses)[number]

const named = (what: string) => ({
  name: Type.String({ description: `Name of the ${what}` }),
  status: OneOf(componentStatuses, { description: `How the ${what} works` }),
})

export const ServiceStatus = Type.Object(
  {
    status: OneOf(componentStatuses, { description: 'How the service works as a whole' }),
    groups: Type.Array(
      Type.Object(
        {
          ...named('group'),
          components: Type.Array(
            Type.Object({
              ...named('component'),
              detail: Type.Optional(
                Type.String({
                  description:
                    'Extension: what there is of it, or why it does not work, where there is more to say',
                }),
              ),
            }),
            { description: 'What is in the group' },
          ),
        },
        { title: 'StatusGroup' },
      ),
      { description: 'Parts of the service' },
    ),
  },
  { title: 'ServiceStatus' },
)
export type ServiceStatus = Static<typeof ServiceStatus>

export const getStatus = operation({
  id: 'getStatus',
  tag,
  summary: 'Get what works, by group',
  description:
    'For people and for `kernel status`. Programs that decide about traffic ask `/ready`. Returns 200 also during an outage.',
  method: 'GET',
  path: '/status',
  auth: 'none',
  status: 200,
  response: ServiceStatus,
})

export const getReadiness = operation({
  id: 'getReadiness',
  tag,
  summary: 'Check whether the server accepts work; returns 503 while it starts, drains or has no database',
  method: 'GET',
  path: '/ready',
  auth: 'none',
  status: 200,
  response: Type.Object({
    status: OneOf(['ready'] as const, { description: 'Always `ready`' }),
  }),
  errors: ['unavailable'],
})

export const getMetrics = operation({
  id: 'getMetrics',
  tag,
  summary: 'Get metrics in the Prometheus text format',
  method: 'GET',
  path: '/metrics',
  auth: 'organization-key',
  kind: 'text',
  status: 200,
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['forbidden'],
})

export const getOpenApi = operation({
  id: 'getOpenApi',
  tag,
  summary: 'Get this API as an OpenAPI 3.1 document',
  method: 'GET',
  path: '/openapi.json',
  aliases: ['/spec.json'],
  auth: 'none',
  kind: 'text',
  status: 200,
  contentType: 'application/json; charset=utf-8',
})

export const getDocs = operation({
  id: 'getDocs',
  tag,
  summary: 'Open the API reference page',
  method: 'GET',
  path: '/docs',
  auth: 'none',
  kind: 'html',
  status: 200,
  contentType: 'text/html; charset=utf-8',
})
