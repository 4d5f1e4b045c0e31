// The screen of the session: live while it runs, and the recordings of what was.
import { useState } from 'react'
import { usePower } from '../../../api/context.ts'
import { Empty } from '../../../parts/Notes.tsx'
import { hasEnded, useReplays, useSession } from '../session.ts'
import { EndNote } from './EndNote.tsx'
import { LiveView } from './LiveView.tsx'
import { PreviewView } from './PreviewView.tsx'
import { ReplayVideo } from './ReplayVideo.tsx'

export function Stage() {
  const session = useSession()
  const power = usePower()
  const { data: replays = [] } = useReplays(session.session_id)
  const [wantsReplay, setWantsReplay] = useState(false)
  const finished = replays.filter(({ finished_at: at }) => at !== null && at !== undefined)
  if (hasEnded(session)) {
    return (
      <div className="stage">
        <EndNote />
        {replays.length > 0 ? (
          <ReplayVideo replays={replays} />
        ) : (
          <Empty
            icon="play"
            title="No recording"
            text="Nobody recorded this session. Start a recording in its header, or create the next one with record: true."
          />
        )}
      </div>
    )
  }
  const isReplay = wantsReplay && finished.length > 0
  return (
    <div className="stage">
      {finished.length > 0 && (
        <div className="segments" role="group" aria-label="What the screen shows">
          <button type="button" aria-pressed={!isReplay} onClick={() => setWantsReplay(false)}>
            Live
          </button>
          <button type="button" aria-pressed={isReplay} onClick={() => setWantsReplay(true)}>
            Recordings
          </button>
        </div>
      )}
      {isReplay ? (
        <ReplayVideo replays={finished} />
      ) : power.can('browsers:write') ? (
        <LiveView key={session.lease_id ?? ''} />
      ) : (
        <PreviewView />
      )}
    </div>
  )
}
