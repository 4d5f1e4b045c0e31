// Where a session runs, how much memory it may use, and what it reaches without its proxy.
import { Type, type Static } from 'typebox'
import { OneOf, Open, Text } from './schema.ts'

export const MAX_PRIVATE_HOSTS = 32

export const NetworkRequest = Open(
  {
    private_hosts: Type.Optional(
      Type.Array(
        Text({
          description: 'A host, `*.` and a domain, a private address, or a CIDR inside a private range',
          minLength: 1,
          maxLength: 255,
        }),
        {
          maxItems: MAX_PRIVATE_HOSTS,
          description:
            'Private destinations to reach directly, without the proxy, as far as the operator allows them. ' +
            'Replaces the default: addresses in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 and fc00::/7. ' +
            'Private destinations that are not listed are treated like public ones. Hosts and addresses may have a port. ' +
            'Addresses and CIDRs match URLs with an address only',
        },
      ),
    ),
  },
  { description: 'Network of the session; cannot be changed later' },
)
export type NetworkRequest = Static<typeof NetworkRequest>

export const Network = Type.Object(
  {
    private_hosts: Type.Optional(
      Type.Array(Type.String(), { description: 'Private destinations that are reached directly' }),
    ),
  },
  { title: 'BrowserNetwork', description: 'Network settings; absent when not set' },
)
export type Network = Static<typeof Network>

export const REGION = '^[a-z][a-z0-9-]{0,62}$'

/** In requests and filters. */
export const Region = Type.String({
  pattern: REGION,
  examples: ['us-east'],
  description: 'Name of a region. The operator names the region of each server (BERTH_REGION)',
})

/** Of lists; empty: all. */
export const RegionFilter = Type.String({ pattern: `${REGION}|^$`, description: 'Only those of this region' })

/** In answers. */
export const ShownRegion = Type.String({ description: 'Region where it was created' })

export const requestableMemories = ['8GiB', '16GiB'] as const
export type RequestableMemory = (typeof requestableMemories)[number]
export const shownMemories = ['1GiB', '2GiB', '6GiB', '8GiB', '16GiB'] as const
export type ShownMemory = (typeof shownMemories)[number]

export const Memory = OneOf(requestableMemories, {
  description:
    'Memory that the session may use; headful sessions without GPU only. When omitted, as the operator has set (BERTH_SESSION_MEMORY_MB)',
})
export const ShownMemory = OneOf(shownMemories, {
  description: 'Memory that the session may use, rounded down to one of these values (below 1 GiB: up)',
})
