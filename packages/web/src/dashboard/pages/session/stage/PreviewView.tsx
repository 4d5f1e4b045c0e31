// What a key that may only read sees: a small picture, at most once a second. Watching it is no use of the session.
import { useEffect, useState } from 'react'
import type { PreviewEvent } from '@berth/contracts/previews'
import { eventsOf } from '../../../../shared/events.ts'
import { refusalOf } from '../../../api/client.ts'
import { useApi } from '../../../api/context.ts'
import { ErrorNote, Loading } from '../../../parts/Notes.tsx'
import { useSession } from '../session.ts'

const WIDTH = 640
const RETRY_MS = 3_000
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

const words: Readonly<Record<Exclude<PreviewEvent['state'], 'picture'>, string>> = {
  standby: 'Nobody uses the session, so it is on standby.',
  hidden: 'The screen is hidden, because a login has used a secret in it.',
  unavailable: 'There is nothing to see at the moment.',
  ended: 'The session has ended.',
}

export function PreviewView() {
  const { session_id: id } = useSession()
  const { projectId } = useApi()
  const [picture, setPicture] = useState<string>()
  const [state, setState] = useState<PreviewEvent['state']>()
  const [error, setError] = useState<unknown>()
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const over = new AbortController()
    const follow = async () => {
      const answer = await fetch(`/previews?ids=${encodeURIComponent(id)}&width=${WIDTH}`, {
        signal: over.signal,
        headers: projectId === undefined ? {} : { 'x-kernel-project-id': projectId },
      })
      if (!answer.ok) throw await refusalOf(answer)
      for await (const event of eventsOf<PreviewEvent>(answer)) {
        setError(undefined)
        setState(event.state)
        if (event.data !== undefined && BASE64.test(event.data)) {
          setPicture(`data:image/jpeg;base64,${event.data}`)
        }
      }
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    follow()
      .catch((thrown: unknown) => {
        if (!over.signal.aborted) setError(thrown)
      })
      .finally(() => {
        if (!over.signal.aborted) timer = setTimeout(() => setTurn(turn + 1), RETRY_MS)
      })
    return () => {
      clearTimeout(timer)
      over.abort()
    }
  }, [id, projectId, turn])
  return (
    <>
      <div className="stage-bar">
        <small className="quiet">
          This key may only read, so it sees a small picture.{' '}
          {state !== undefined && state !== 'picture' && words[state]}
        </small>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      {picture === undefined ? (
        state === undefined && error === undefined && <Loading what="the picture" />
      ) : (
        <img className="preview" src={picture} alt="The screen of the session" />
      )}
    </>
  )
}
