import type { Browser } from '@berth/contracts/browsers'
import { Link } from '@tanstack/react-router'
import { keepProject } from '../../parts/project.ts'
import { StartingTile, Tile } from './Tile.tsx'
import { usePreviews } from './use-previews.ts'
import { useVisible } from './use-visible.ts'

export interface TilesProps {
  readonly sessions: readonly Browser[]
  readonly hasMore: boolean
  /** How many are being started. */
  readonly starting: number
}

const MAX_STARTING = 8

export function Tiles({ sessions, hasMore, starting }: TilesProps) {
  const { visible, watch } = useVisible()
  const previews = usePreviews(visible)
  return (
    <section aria-label="Sessions that run now">
      <div className="section-head">
        <h2>Running now</h2>
        <Link to="/sessions" search={keepProject}>
          {hasMore ? 'The newest are shown; see all' : 'All sessions'}
        </Link>
      </div>
      {sessions.length + starting === 0 ? (
        <p className="quiet">No session runs at the moment.</p>
      ) : (
        <ul className="tiles">
          {Array.from({ length: Math.min(starting, MAX_STARTING) }, (_, index) => (
            <StartingTile key={index} />
          ))}
          {sessions.map((session) => (
            <Tile
              key={session.session_id}
              session={session}
              preview={previews.get(session.session_id)}
              watch={watch}
            />
          ))}
        </ul>
      )}
    </section>
  )
}
