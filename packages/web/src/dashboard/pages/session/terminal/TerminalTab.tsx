// A terminal in the session. Its program ends when the tab is left.
import { useEffect, useRef, useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { ErrorNote } from '../../../parts/Notes.tsx'
import { useSession } from '../session.ts'
import { openTerminal } from './open-terminal.ts'
import './terminal.css'

type State = 'starting' | 'open' | 'ended'

export default function TerminalTab() {
  const session = useSession()
  const { client } = useApi()
  const box = useRef<HTMLDivElement>(null)
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<State>('starting')
  const [error, setError] = useState<unknown>()
  // The session is read again now and then; the terminal stays with the one that it began with.
  const current = useRef(session)
  current.current = session
  useEffect(() => {
    setState('starting')
    setError(undefined)
    const over = new AbortController()
    openTerminal({
      client,
      session: current.current,
      element: box.current!,
      signal: over.signal,
      onOpen: () => setState('open'),
      onEnd: () => setState('ended'),
    }).catch((thrown: unknown) => {
      if (over.signal.aborted) return
      setError(thrown)
      setState('ended')
    })
    return () => over.abort()
  }, [client, session.session_id, turn])
  return (
    <div className="terminal">
      <div className="tab-bar">
        <span className="quiet" role="status">
          {{ starting: 'Starting bash', open: 'bash in /home/kernel', ended: 'The program has ended' }[state]}
        </span>
        <span className="spacer" />
        <button type="button" onClick={() => setTurn(turn + 1)}>
          {state === 'ended' ? 'Start again' : 'Restart'}
        </button>
      </div>
      {error !== undefined && <ErrorNote error={error} onRetry={() => setTurn(turn + 1)} />}
      <div className="terminal-screen" ref={box} />
    </div>
  )
}
