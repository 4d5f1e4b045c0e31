import { memo, useCallback } from 'react'
import type { Browser } from '@berth/contracts/browsers'
import { Link } from '@tanstack/react-router'
import { Badge } from '../../parts/Badge.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { keepProject } from '../../parts/project.ts'
import { duration, useNow } from '../../parts/Time.tsx'
import type { Preview } from './use-previews.ts'

export interface TileProps {
  readonly session: Browser
  readonly preview: Preview | undefined
  readonly watch: (element: HTMLElement | null, id: string) => (() => void) | undefined
}

/** One session that runs: what it shows now, in a link to it. */
export const Tile = memo(function Tile({ session, preview, watch }: TileProps) {
  const { session_id: id, name, created_at: at } = session
  const ref = useCallback((element: HTMLElement | null) => watch(element, id), [watch, id])
  const now = useNow()
  return (
    <li ref={ref}>
      <Link to="/sessions/$id" params={{ id }} search={keepProject} className="tile" preload={false}>
        <span className="picture" data-state={preview?.state}>
          {preview?.url === undefined ? (
            <span className="quiet">
              <Icon name={preview?.state === 'hidden' ? 'eye' : 'sessions'} size={28} />
              {wordsOf(session, preview)}
            </span>
          ) : (
            <img src={preview.url} alt="" decoding="async" />
          )}
        </span>
        <span className="tile-name" title={id}>
          {name ?? id}
        </span>
        <span className="tile-facts">
          <StateBadge session={session} preview={preview} />
          <span className="quiet number" title={new Date(at).toLocaleString()}>
            {duration(Math.max(now - Date.parse(at), 1_000))}
          </span>
        </span>
      </Link>
    </li>
  )
})

function StateBadge({ session, preview }: Pick<TileProps, 'session' | 'preview'>) {
  if (preview?.state === 'ended') return <Badge tone="quiet">ended</Badge>
  if (session.state === 'standby' || preview?.state === 'standby') return <Badge tone="accent">standby</Badge>
  return <Badge tone="good">live</Badge>
}

/** Nobody sees more of a session before it runs. */
export function StartingTile() {
  return (
    <li>
      <span className="tile">
        <span className="picture">
          <span className="spinner" aria-hidden="true" />
        </span>
        <span className="tile-name quiet">A new session</span>
        <span className="tile-facts">
          <Badge tone="warn">starting</Badge>
        </span>
      </span>
    </li>
  )
}

function wordsOf({ state }: Browser, preview: Preview | undefined): string {
  if (preview?.state === 'hidden') return 'Hidden, because a login used a secret'
  if (preview?.state === 'standby' || state === 'standby') return 'On standby'
  return preview?.state === 'unavailable' ? 'No picture yet' : ''
}
