// What goes through a proxy: sessions, pools and logins. The API has no such question, so it looks at the newest of each.
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { Uses, type Use } from '../../parts/Uses.tsx'

const LOOKED_AT = 100

export function ProxyUses({ id }: { id: string }) {
  const { client, power } = useApi()
  const canSee = power.can('browsers:read')
  const { data: sessions = [] } = useQuery({
    queryKey: ['browser', 'of proxy', id],
    enabled: canSee,
    queryFn: async ({ signal }): Promise<Use[]> =>
      (await client.browsers.list({ limit: LOOKED_AT }, { signal }))
        .getPaginatedItems()
        .filter((each) => each.proxy_id === id)
        .map((each) => ({
          to: `/sessions/${each.session_id}`,
          what: 'Session',
          name: each.name ?? each.session_id,
        })),
  })
  const { data: pools = [] } = useQuery({
    queryKey: ['browser_pool', 'of proxy', id],
    enabled: canSee,
    queryFn: async ({ signal }): Promise<Use[]> =>
      (await client.browserPools.list({ limit: LOOKED_AT }, { signal }))
        .getPaginatedItems()
        .filter(({ browser_pool_config: config }) => config.proxy_id === id)
        .map((pool) => ({ to: `/pools/${pool.id}`, what: 'Pool', name: pool.name ?? pool.id })),
  })
  const { data: logins = [] } = useQuery({
    queryKey: ['auth_connection', 'of proxy', id],
    enabled: power.can('logins:read'),
    queryFn: async ({ signal }): Promise<Use[]> =>
      (await client.auth.connections.list({ limit: LOOKED_AT }, { signal }))
        .getPaginatedItems()
        .filter((each) => each.proxy_id === id)
        .map((each) => ({ to: `/logins/${each.id}`, what: 'Login', name: each.domain })),
  })
  return <Uses uses={[...sessions, ...pools, ...logins]} />
}
