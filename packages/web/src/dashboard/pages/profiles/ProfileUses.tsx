// What uses a profile: sessions that run with it, pools and logins.
import type { Profile } from '@berth/contracts/profiles'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { Card } from '../../parts/Page.tsx'
import { Uses, type Use } from '../../parts/Uses.tsx'

export function ProfileUses({ profile }: { profile: Profile }) {
  const { client, power } = useApi()
  const canSee = power.can('browsers:read')
  const { data: sessions = [] } = useQuery({
    queryKey: ['browser', 'of profile', profile.id],
    enabled: canSee,
    queryFn: async ({ signal }): Promise<Use[]> =>
      (await client.browsers.list({ query: profile.id, limit: 100 }, { signal }))
        .getPaginatedItems()
        .filter((each) => each.profile?.id === profile.id)
        .map((each) => ({
          to: `/sessions/${each.session_id}`,
          what: 'Session',
          name: each.name ?? each.session_id,
        })),
  })
  const { data: pools = [] } = useQuery({
    queryKey: ['browser_pool', 'of profile', profile.id],
    enabled: canSee,
    queryFn: async ({ signal }): Promise<Use[]> =>
      (await client.browserPools.list({ limit: 100 }, { signal }))
        .getPaginatedItems()
        .filter(({ browser_pool_config: config }) => config.profile?.id === profile.id)
        .map(({ id, name }) => ({ to: `/pools/${id}`, what: 'Pool', name: name ?? id })),
  })
  const { data: logins = [] } = useQuery({
    queryKey: ['auth_connection', 'of profile', profile.id, profile.name ?? ''],
    enabled: power.can('logins:read') && profile.name != null,
    queryFn: async ({ signal }): Promise<Use[]> =>
      (await client.auth.connections.list({ profile_name: profile.name!, limit: 100 }, { signal }))
        .getPaginatedItems()
        .map(({ id, domain }) => ({ to: `/logins/${id}`, what: 'Login', name: domain })),
  })
  return (
    <Card title="In use by">
      <Uses uses={[...sessions, ...pools, ...logins]} />
    </Card>
  )
}
