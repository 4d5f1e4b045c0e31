// Who has a browser of the pool, and giving it back in their place.
import { useState } from 'react'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import type { Browser } from '@berth/contracts/browsers'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi, useAsk } from '../../api/context.ts'
import { Confirm } from '../../parts/Dialog.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Card } from '../../parts/Page.tsx'
import { Tags } from '../../parts/Badge.tsx'
import { keepProject } from '../../parts/project.ts'
import { duration } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { SessionState } from '../sessions/SessionState.tsx'

const MAX_SHOWN = 100

const ways = [
  { text: 'Release', how: {} },
  { text: 'Release, and replace the browser', how: { reuse: false } },
  { text: 'Release, and put an unused browser in its place', how: { reset: true } },
] as const
type How = (typeof ways)[number]['how']

interface Releasing {
  readonly session: Browser
  readonly how: How
}

export function Leases({ pool }: { pool: BrowserPool }) {
  const { client, power, projectId } = useApi()
  const ask = useAsk()
  const [releasing, setReleasing] = useState<Releasing>()
  const query = useQuery({
    queryKey: ['browser', 'leases', projectId ?? null, pool.id],
    queryFn: async ({ signal }) => {
      const page = await client.browsers.list({ query: pool.id, limit: MAX_SHOWN }, { signal })
      return (page.getPaginatedItems() as unknown as Browser[]).filter((row) => row.pool?.id === pool.id)
    },
    placeholderData: () => undefined,
  })
  const release = useAct<Releasing>({
    run: ({ session, how }) =>
      ask<void>(`/browser_pools/${encodeURIComponent(pool.id)}/release`, {
        method: 'POST',
        body: {
          session_id: session.session_id,
          ...(session.lease_id !== undefined && { lease_id: session.lease_id }),
          ...how,
        },
      }),
    done: 'The browser is released',
    changes: ['browser', 'browser_pool'],
    isQuiet: true,
  })
  const { data: rows } = query
  return (
    <Card title="Leases">
      {!rows && <Pending query={query} what="leases" />}
      {rows?.length === 0 && <p className="quiet">Nobody has a browser of this pool.</p>}
      {rows && rows.length > 0 && (
        <div className="scroll-x">
          <table className="plain-table" aria-label="Leases">
            <thead>
              <tr>
                <th>Session</th>
                <th>State</th>
                <th>Lease</th>
                <th>Tags</th>
                <th>Uptime</th>
                <th>
                  <span className="unseen">Acts</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((session) => (
                <tr key={session.session_id}>
                  <td>
                    <Link to="/sessions/$id" params={{ id: session.session_id }} search={keepProject}>
                      {session.name ?? session.session_id}
                    </Link>
                  </td>
                  <td>
                    <SessionState session={session} />
                  </td>
                  <td>
                    <code>{session.lease_id}</code>
                  </td>
                  <td>
                    <Tags tags={session.tags} />
                  </td>
                  <td className="number">{session.usage && duration(session.usage.uptime_ms)}</td>
                  <td>
                    {power.can('browsers:write') && (
                      <Menu
                        label={`Acts for ${session.name ?? session.session_id}`}
                        items={ways.map(({ text, how }) => ({
                          text,
                          onSelect: () => setReleasing({ session, how }),
                        }))}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {pool.acquired_count > MAX_SHOWN && <p className="quiet">The newest {MAX_SHOWN} are shown.</p>}
      <Confirm
        title="Release the browser?"
        text="Its clients are disconnected, and the URLs of the lease stop working."
        action="Release"
        isOpen={releasing !== undefined}
        onClose={() => setReleasing(undefined)}
        onConfirm={() => release.mutateAsync(releasing!)}
      />
    </Card>
  )
}
