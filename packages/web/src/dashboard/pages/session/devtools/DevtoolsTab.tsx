// Chromium's own DevTools for a page of the session. The frame has no origin, because what runs in it comes from the
// session: it reaches that session and nothing else.
import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { BrowserPage, DevtoolsLink } from '@berth/contracts/devtools'
import { useAsk } from '../../../api/context.ts'
import { noPlaceholder } from '../../../api/queries.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { Empty, Pending } from '../../../parts/Notes.tsx'
import { pathOf, useSession } from '../session.ts'
import './devtools.css'

const PAGES_MS = 5_000
const LINK_SECONDS = 12 * 3600

export default function DevtoolsTab() {
  const session = useSession()
  const ask = useAsk()
  const pages = useQuery({
    queryKey: ['session_pages', session.session_id],
    queryFn: ({ signal }) => ask<BrowserPage[]>(pathOf(session, '/pages'), { signal }),
    refetchInterval: PAGES_MS,
    placeholderData: noPlaceholder,
  })
  const [chosen, setChosen] = useState<string>()
  // The first one is the page that was used last; it does not change under the hands of who looks at it.
  const [first, setFirst] = useState<string>()
  const list = pages.data
  if (!list) return <Pending query={pages} what="the pages" />
  const page = list.find(({ id }) => id === chosen) ?? list.find(({ id }) => id === first) ?? list[0]
  if (!page) return <Empty icon="sessions" title="No pages" text="The session has no open tab." />
  if (first === undefined) setFirst(page.id)
  return (
    <div className="devtools">
      <div className="tab-bar">
        <select aria-label="Page" value={page.id} onChange={({ target }) => setChosen(target.value)}>
          {list.map(({ id, title, url }) => (
            <option key={id} value={id}>
              {`${title === '' ? 'No title' : title.slice(0, 60)}, ${url.slice(0, 80)}`}
            </option>
          ))}
        </select>
      </div>
      <OnePage key={page.id} pageId={page.id} />
    </div>
  )
}

function OnePage({ pageId }: { pageId: string }) {
  const session = useSession()
  const ask = useAsk()
  const query = useQuery({
    queryKey: ['devtools_link', session.session_id, session.lease_id ?? null, pageId],
    queryFn: ({ signal }) =>
      ask<DevtoolsLink>(pathOf(session, '/devtools_links'), {
        method: 'POST',
        body: { page_id: pageId, expires_in_seconds: LINK_SECONDS },
        signal,
      }),
    // Another link would load DevTools again.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    placeholderData: noPlaceholder,
  })
  if (!query.data) return <Pending query={query} what="DevTools" />
  const { url } = query.data
  return (
    <>
      <iframe
        className="devtools-frame"
        src={url}
        title="DevTools"
        sandbox="allow-scripts allow-forms allow-popups allow-modals allow-downloads"
      />
      <a className="devtools-open" href={url} target="_blank" rel="noreferrer">
        <Icon name="link" size={14} /> Open in a tab of its own
      </a>
    </>
  )
}
