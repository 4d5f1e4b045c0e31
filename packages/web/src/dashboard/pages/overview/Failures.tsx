import type { Overview } from '@berth/contracts/overview'
import { Link } from '@tanstack/react-router'
import { Card } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { Time } from '../../parts/Time.tsx'
import { EndBadge } from '../sessions/SessionState.tsx'

export function Failures({ failures }: { failures: Overview['failures'] }) {
  return (
    <Card title="Failed last">
      {failures.length === 0 ? (
        <p className="quiet">No session has failed. Those that end by themselves are listed here.</p>
      ) : (
        <ul className="failures">
          {failures.map(({ session_id: id, name, pool_id: pool, end_reason: reason, deleted_at: at }) => (
            <li key={id}>
              <EndBadge reason={reason} />
              <Link to="/sessions/$id" params={{ id }} search={keepProject} preload={false}>
                {name ?? id}
              </Link>
              {pool !== undefined && (
                <Link
                  to="/pools/$id"
                  params={{ id: pool }}
                  search={keepProject}
                  className="quiet"
                  preload={false}
                >
                  of a pool
                </Link>
              )}
              <span className="quiet">
                <Time at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
