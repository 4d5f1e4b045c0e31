// How the server is: it answers even when it cannot work, so both questions are asked.
import type { ComponentStatus, ServiceStatus } from '@berth/contracts/system'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api/client.ts'
import { usePower } from '../../api/context.ts'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { ErrorNote, Pending } from '../../parts/Notes.tsx'
import { Card, Facts } from '../../parts/Page.tsx'

const REFETCH_MS = 10_000

const words: Readonly<Record<ComponentStatus, readonly [Tone, string]>> = {
  operational: ['good', 'Works'],
  degraded_performance: ['warn', 'Works slowly'],
  partial_outage: ['warn', 'Works in part'],
  full_outage: ['bad', 'Does not work'],
  maintenance: ['accent', 'Maintenance'],
}

export function Health() {
  const power = usePower()
  const ready = useQuery({
    queryKey: ['system', 'ready'],
    queryFn: ({ signal }) => ask<object>('/ready', { signal }),
    refetchInterval: REFETCH_MS,
    retry: false,
  })
  const status = useQuery({
    queryKey: ['system', 'status'],
    queryFn: ({ signal }) => ask<ServiceStatus>('/status', { signal }),
    refetchInterval: REFETCH_MS,
  })
  return (
    <Card
      title="Health"
      actions={
        <span className="actions">
          {power.isOrganization && power.can('projects:read') && (
            <a className="button" href="/metrics" target="_blank" rel="noreferrer">
              <Icon name="overview" size={16} /> Metrics
            </a>
          )}
          <a className="button" href="/docs" target="_blank" rel="noreferrer">
            <Icon name="book" size={16} /> API reference
          </a>
        </span>
      }
    >
      <div className="form">
        {ready.error && <ErrorNote error={ready.error} />}
        {ready.data && <Badge tone="good">Accepts work</Badge>}
        {status.data ? (
          status.data.groups.map((group) => (
            <section key={group.name} className="form">
              <h3>{group.name}</h3>
              <Facts
                facts={group.components.map(({ name, status: state }) => [
                  name,
                  <Badge key={name} tone={words[state][0]}>
                    {words[state][1]}
                  </Badge>,
                ])}
              />
            </section>
          ))
        ) : (
          <Pending query={status} what="the state of the server" />
        )}
      </div>
    </Card>
  )
}
