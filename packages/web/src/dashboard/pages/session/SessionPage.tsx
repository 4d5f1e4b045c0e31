// One session: what its screen shows, beside tabs for everything else.
import { useParams } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { About } from './head/About.tsx'
import { Actions } from './head/Actions.tsx'
import { Above } from './head/Above.tsx'
import { Player, PlayerContext } from './stage/player.ts'
import { SessionContext, useSessionQuery } from './session.ts'
import { Split } from './Split.tsx'
import { Stage } from './stage/Stage.tsx'
import { SessionTabs } from './SessionTabs.tsx'
import { useMemo } from 'react'
import './session.css'

export function SessionPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  return <OneSession key={id} id={id} />
}

function OneSession({ id }: { id: string }) {
  const query = useSessionQuery(id)
  const player = useMemo(() => new Player(), [])
  const session = query.data
  if (!session) {
    return (
      <Page title="Session" above={<Above />}>
        <Pending query={query} what="the session" />
      </Page>
    )
  }
  return (
    <SessionContext value={session}>
      <PlayerContext value={player}>
        <Page
          title={session.name ?? session.session_id}
          above={<Above />}
          about={<About />}
          actions={<Actions />}
          isFull
        >
          <Split label="Width of the screen" first={<Stage />} second={<SessionTabs />} />
        </Page>
      </PlayerContext>
    </SessionContext>
  )
}
