// A recording, in step with the timeline.
import { useEffect, useRef, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { noPlaceholder } from '../../../api/queries.ts'
import { refusalOf } from '../../../api/client.ts'
import { Loading, Pending } from '../../../parts/Notes.tsx'
import { bytes, duration } from '../../../parts/Time.tsx'
import { pathOf, useSession, type Replay } from '../session.ts'
import { usePlayer } from './player.ts'

const NOT_READY_MS = 2_000

export function ReplayVideo({ replays }: { replays: readonly Replay[] }) {
  const session = useSession()
  const sorted = replays.toSorted((one, other) => startOf(one) - startOf(other))
  const [chosen, setChosen] = useState<string>()
  const replay = sorted.find(({ replay_id: id }) => id === chosen) ?? sorted[0]!
  const path = pathOf(session, `/replays/${encodeURIComponent(replay.replay_id)}`)
  const ready = useQuery({
    queryKey: ['replay', 'ready', replay.replay_id],
    queryFn: ({ signal }) => isReady(path, signal),
    refetchInterval: ({ state }) => (state.data === true ? false : NOT_READY_MS),
    placeholderData: noPlaceholder,
  })
  return (
    <>
      <div className="stage-bar">
        {sorted.length > 1 && (
          <select
            aria-label="Recording"
            value={replay.replay_id}
            onChange={({ target }) => setChosen(target.value)}
          >
            {sorted.map((each, index) => (
              <option key={each.replay_id} value={each.replay_id}>
                {`Recording ${index + 1}, ${new Date(startOf(each)).toLocaleTimeString()}`}
              </option>
            ))}
          </select>
        )}
        <small className="quiet number">
          {[
            replay.duration_ms !== undefined && duration(replay.duration_ms),
            replay.size_bytes !== undefined && bytes(replay.size_bytes),
            replay.lost_ms !== undefined && replay.lost_ms > 0 && `${duration(replay.lost_ms)} are missing`,
          ]
            .filter((text) => typeof text === 'string')
            .join(', ')}
        </small>
        <a className="button" href={path} download={`${replay.replay_id}.mp4`}>
          Download
        </a>
      </div>
      {ready.data === true ? (
        <Video key={path} path={path} startedAtMs={startOf(replay)} />
      ) : ready.error ? (
        <Pending query={ready} what="the recording" />
      ) : (
        <Loading what="the recording, which is being prepared" />
      )}
    </>
  )
}

function Video({ path, startedAtMs }: { path: string; startedAtMs: number }) {
  const player = usePlayer()
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => player.attach(video.current!, startedAtMs), [player, startedAtMs])
  return (
    // Nobody has captions for what a page plays.
    <video className="replay" ref={video} src={path} controls muted playsInline preload="metadata">
      <track kind="captions" />
    </video>
  )
}

const startOf = ({ started_at: at }: Replay) => new Date(at ?? 0).getTime()

async function isReady(path: string, signal: AbortSignal): Promise<boolean> {
  const answer = await fetch(path, { headers: { range: 'bytes=0-0' }, signal })
  if (!answer.ok) throw await refusalOf(answer)
  await answer.body?.cancel()
  return answer.status !== 202
}
