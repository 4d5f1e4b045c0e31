// The facts in one line below the title: state, name, tags, timeout, profile, proxy, region.
import { Badge, Tags } from '../../../parts/Badge.tsx'
import { Copyable } from '../../../parts/Copy.tsx'
import { Time, duration } from '../../../parts/Time.tsx'
import { endWords } from '../end-words.ts'
import { hasEnded, useReplays, useSession } from '../session.ts'

export function About() {
  const session = useSession()
  const { data: replays = [] } = useReplays(session.session_id)
  const isRecorded =
    !hasEnded(session) && replays.some(({ finished_at: at }) => at === null || at === undefined)
  const { end_reason: reason, profile, proxy, tags } = session
  return (
    <>
      {hasEnded(session) ? (
        <Badge tone={reason === undefined ? 'quiet' : endWords[reason].tone}>Ended</Badge>
      ) : (
        <Badge tone="good">Running</Badge>
      )}
      {isRecorded && <Badge tone="bad">Recording</Badge>}
      <Copyable text={session.session_id} />
      <span>
        created <Time at={session.created_at} />
      </span>
      {!hasEnded(session) && (
        <span title="The time counts from the last use. Clients, an open live view and programs keep it alive.">
          ends after {duration(session.timeout_seconds * 1000)} without use
        </span>
      )}
      {profile && (
        <span className="fact">
          profile <b>{profile.name ?? profile.id}</b>
        </span>
      )}
      {proxy && (proxy.id !== undefined || proxy.mode === 'direct') && (
        <span className="fact">
          proxy <b>{proxy.name ?? proxy.id ?? 'none'}</b>
        </span>
      )}
      {session.region !== undefined && <span className="fact">region {session.region}</span>}
      <Tags tags={tags} />
    </>
  )
}
