// Which features the organisation has. Clients use these values instead of the name of a plan.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf } from './schema.ts'

const plans = ['FREE', 'HOBBYIST', 'START_UP', 'ENTERPRISE'] as const
const planStates = ['NEEDS_PAYMENT_METHOD', 'ACTIVE', 'CANCELED', 'UNPAID'] as const

const Enabled = Type.Boolean({ description: 'Whether the feature can be used' })
const feature = (description: string) => Type.Object({ enabled: Enabled }, { description })

export const Entitlements = Type.Object(
  {
    plan: Type.Object(
      {
        id: OneOf(plans, { description: 'Plan of the organisation. Berth has one' }),
        effective_id: OneOf(plans, { description: 'Plan whose features the organisation has' }),
        is_trialing: Type.Boolean({ description: 'Whether the plan is being tried out' }),
        status: Nullable(OneOf(planStates, { description: 'State of the plan' })),
        trial_ends_at: Nullable(Type.String({ format: 'date-time', description: 'When the trial ends' })),
      },
      { description: 'For clients that show a plan. Everything that Berth has is included' },
    ),
    features: Type.Object(
      {
        browser_extensions: Type.Object(
          {
            enabled: Enabled,
            max_stored_per_org: Nullable(
              Type.Integer({ description: 'How many extensions can be stored. Null: any number' }),
            ),
          },
          { description: 'Chrome extensions' },
        ),
        browser_pools: feature('Browser pools'),
        browser_replays: Type.Object(
          {
            enabled: Enabled,
            retention_days: Type.Integer({ description: 'How long recordings are kept' }),
          },
          { description: 'Recordings of sessions' },
        ),
        credential_providers: feature('Credential providers'),
        credentials: feature('Stored credentials'),
        custom_proxies: feature('Proxies with a host of your own'),
        file_io: feature('Files of a session'),
        gpu: feature('Sessions with a GPU'),
        managed_auth: Type.Object(
          {
            enabled: Enabled,
            max_connections: Nullable(
              Type.Integer({ description: 'How many auth connections there can be. Null: any number' }),
            ),
            health_check_interval_min_seconds: Type.Integer({ description: 'Shortest interval' }),
            health_check_interval_default_seconds: Type.Integer({ description: 'Usual interval' }),
            health_check_interval_max_seconds: Type.Integer({ description: 'Longest interval' }),
          },
          { description: 'Auth connections and their health checks' },
        ),
        managed_proxies: feature('Proxies of the operator; needs BERTH_PROXY_PROVIDERS'),
        profiles: feature('Profiles'),
        proxy_bypass_hosts: feature('Hosts that bypass a proxy'),
        vaults: feature('Vaults'),
      },
      { description: 'What can be used' },
    ),
    limits: Type.Object(
      {
        max_concurrent_browsers: Type.Integer({ description: 'Browser sessions at once' }),
        max_concurrent_invocations: Type.Integer({ description: 'App invocations at once' }),
        default_max_concurrent_invocations_per_app: Type.Integer({
          description: 'Invocations of one app at once. Berth sets no lower limit for one app',
        }),
      },
      { description: 'Limits of the organisation' },
    ),
  },
  { title: 'OrgEntitlements' },
)
export type Entitlements = Static<typeof Entitlements>

export const getEntitlements = operation({
  id: 'getOrgEntitlements',
  tag: 'Organisation',
  summary: 'Get which features the organisation can use, and its limits',
  method: 'GET',
  path: '/org/entitlements',
  status: 200,
  response: Entitlements,
})
