// The existing page of the live view, in a frame. It says by itself when the session ends.
import { useEffect, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { noPlaceholder } from '../../../api/queries.ts'
import type { LiveViewLink } from '@berth/contracts/live-view'
import { useAsk } from '../../../api/context.ts'
import { Pending } from '../../../parts/Notes.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { pathOf, useSession, type Session } from '../session.ts'

type Mode = 'read_only' | 'control'

export function LiveView() {
  const session = useSession()
  const [mode, setMode] = useState<Mode>('read_only')
  return (
    <>
      <div className="stage-bar">
        <div className="segments" role="group" aria-label="Mouse and keyboard">
          <button type="button" aria-pressed={mode === 'read_only'} onClick={() => setMode('read_only')}>
            <Icon name="eye" size={15} /> Watch
          </button>
          <button type="button" aria-pressed={mode === 'control'} onClick={() => setMode('control')}>
            Control
          </button>
        </div>
        <small className="quiet">An open view keeps the session alive.</small>
      </div>
      {session.headless ? <OfLink mode={mode} /> : <OfSession mode={mode} />}
    </>
  )
}

/** The URL has a new token each time the session is read, and a new URL would load the frame again. */
function OfSession({ mode }: { mode: Mode }) {
  const session = useSession()
  const [url] = useState(session.browser_live_view_url)
  return url === undefined ? <OfLink mode={mode} /> : <Frame url={mode === 'control' ? url : readOnly(url)} />
}

const LINK_MS = 3_000_000

function OfLink({ mode }: { mode: Mode }) {
  const session: Session = useSession()
  const ask = useAsk()
  const query = useQuery({
    queryKey: ['live_view_link', session.session_id, session.lease_id ?? null, mode],
    queryFn: ({ signal }) =>
      ask<LiveViewLink>(pathOf(session, '/live_view_links'), { method: 'POST', body: { mode }, signal }),
    // A link lives for an hour. It is made anew before, and for every visit of the page.
    staleTime: Infinity,
    refetchInterval: LINK_MS,
    gcTime: 0,
    placeholderData: noPlaceholder,
  })
  return query.data ? <Frame url={query.data.url} /> : <Pending query={query} what="the live view" />
}

function Frame({ url }: { url: string }) {
  const [isLoaded, setLoaded] = useState(false)
  useEffect(() => setLoaded(false), [url])
  return (
    <iframe
      className="live"
      key={url}
      src={url}
      title="Live view of the session"
      allow="clipboard-read; clipboard-write; fullscreen"
      data-loaded={isLoaded}
      onLoad={() => setLoaded(true)}
    />
  )
}

function readOnly(url: string): string {
  const changed = new URL(url)
  changed.searchParams.set('readOnly', 'true')
  return changed.href
}
