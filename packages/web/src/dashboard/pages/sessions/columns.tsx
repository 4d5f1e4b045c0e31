import type { Browser } from '@berth/contracts/browsers'
import { Link } from '@tanstack/react-router'
import { Tags } from '../../parts/Badge.tsx'
import { keepProject } from '../../parts/project.ts'
import { SessionState } from './SessionState.tsx'
import type { Column } from '../../parts/Table.tsx'
import { duration, Time } from '../../parts/Time.tsx'

const MAX_TAGS = 2

export function columnsOf(onTag: (name: string, value: string) => void): readonly Column<Browser>[] {
  return [
    {
      name: 'Session',
      width: 'minmax(190px, 1.9fr)',
      isMain: true,
      render: ({ session_id: id, name }) => (
        <Link
          to="/sessions/$id"
          params={{ id }}
          search={keepProject}
          className="row-title"
          title={id}
          preload={false}
        >
          <span>{name ?? id}</span>
          {name !== undefined && <small className="quiet">{id}</small>}
        </Link>
      ),
    },
    {
      name: 'State',
      width: '98px',
      isMain: true,
      render: (session) => <SessionState session={session} />,
    },
    {
      name: 'Tags',
      width: 'minmax(120px, 2.4fr)',
      render: ({ tags }) => <Tags tags={tags} max={MAX_TAGS} onPick={onTag} />,
    },
    { name: 'Browser', width: '98px', render: modeOf },
    {
      name: 'Profile',
      width: 'minmax(60px, 0.8fr)',
      render: ({ profile }) => profile && <span title={profile.id}>{profile.name ?? profile.id}</span>,
    },
    {
      name: 'Pool',
      width: 'minmax(60px, 0.6fr)',
      render: ({ pool }) =>
        pool && (
          <Link to="/pools/$id" params={{ id: pool.id }} search={keepProject} title={pool.id} preload={false}>
            {pool.name ?? pool.id}
          </Link>
        ),
    },
    { name: 'Created', width: '106px', render: ({ created_at: at }) => <Time at={at} /> },
    {
      name: 'Uptime',
      width: '84px',
      render: ({ usage }) => usage && <span className="number">{duration(usage.uptime_ms)}</span>,
    },
  ]
}

function modeOf({ headless, stealth, gpu }: Browser): string {
  return [headless ? 'headless' : 'headful', ...(stealth ? ['stealth'] : []), ...(gpu ? ['GPU'] : [])].join(
    ', ',
  )
}
