// Ends many sessions, a few at a time, and says which could not be ended and why.
import { useEffect, useRef, useState } from 'react'
import type { Browser } from '@berth/contracts/browsers'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useAsk } from '../../api/context.ts'
import { problemOf } from '../../api/problem.ts'
import { Confirm } from '../../parts/Dialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { keepProject } from '../../parts/project.ts'
import { inParallel } from './in-parallel.ts'
import { MAX_SELECTED, type Selection } from './use-selection.ts'

const AT_ONCE = 6

interface Failed {
  readonly session: Browser
  readonly error: unknown
}

interface Run {
  readonly total: number
  readonly done: number
  readonly failed: readonly Failed[]
  readonly isOver: boolean
}

export interface EndSelectedProps {
  readonly selection: Selection
  /** Others match that are not chosen, because the page has not read them. */
  readonly hasMore: boolean
}

export function EndSelected({ selection, hasMore }: EndSelectedProps) {
  const { ids, running: sessions } = selection
  const count = ids.size
  const ask = useAsk()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const [run, setRun] = useState<Run>()
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])

  const endAll = async (chosen: readonly Browser[]) => {
    const over = new AbortController()
    stop.current = over
    setRun({ total: chosen.length, done: 0, failed: [], isOver: false })
    await inParallel(chosen, AT_ONCE, over.signal, async (session) => {
      try {
        await ask(pathOf(session), { method: 'DELETE' })
        setRun((old) => old && { ...old, done: old.done + 1 })
      } catch (error) {
        setRun((old) => old && { ...old, failed: [...old.failed, { session, error }] })
      }
    })
    setRun((old) => old && { ...old, isOver: true })
    await queries.invalidateQueries({ queryKey: ['browser'] })
  }

  return (
    <section className="selected" aria-label="Selected sessions">
      {run ? (
        <Progress run={run} />
      ) : (
        <span>
          {count.toLocaleString('en')} selected
          {sessions.length < count && `, ${sessions.length.toLocaleString('en')} of them running`}
          {hasMore && <SelectAll selection={selection} />}
          {count >= MAX_SELECTED && '. That is as many as the page selects'}
        </span>
      )}
      <div className="actions">
        {run && !run.isOver && (
          <button type="button" onClick={() => stop.current?.abort()}>
            Stop
          </button>
        )}
        {run?.isOver && run.failed.length > 0 && (
          <button type="button" onClick={() => void endAll(run.failed.map(({ session }) => session))}>
            Try again
          </button>
        )}
        {!run && (
          <button
            type="button"
            className="danger"
            disabled={sessions.length === 0 || selection.reading !== undefined}
            onClick={() => setAsking(true)}
          >
            <Icon name="stop" size={16} /> End{' '}
            {sessions.length === 1 ? 'the session' : `${sessions.length.toLocaleString('en')} sessions`}
          </button>
        )}
        {(!run || run.isOver) && (
          <button type="button" onClick={() => selection.choose(new Set())}>
            {run ? 'Done' : 'Clear selection'}
          </button>
        )}
      </div>
      {run && run.failed.length > 0 && (
        <ul className="failed">
          {run.failed.map(({ session: { session_id: id, name }, error }) => (
            <li key={id}>
              <Link to="/sessions/$id" params={{ id }} search={keepProject}>
                {name ?? id}
              </Link>
              : {problemOf(error).title}
            </li>
          ))}
        </ul>
      )}
      <Confirm
        title={sessions.length === 1 ? 'End the session?' : `End ${sessions.length} sessions?`}
        text="Clients are disconnected. Profiles with saved changes are saved first. An ended session does not come back."
        action="End"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={async () => void endAll(sessions)}
      />
    </section>
  )
}

/** The box above the list chooses what was read; this chooses the rest, too. */
function SelectAll({ selection: { reading, chooseAll, stopReading } }: { selection: Selection }) {
  if (reading === undefined) {
    return (
      <>
        . More match.{' '}
        <button type="button" className="plain link" onClick={chooseAll}>
          Select all that match
        </button>
      </>
    )
  }
  return (
    <span role="status">
      . Reading the others: {reading.toLocaleString('en')}{' '}
      <button type="button" className="plain link" onClick={stopReading}>
        Cancel
      </button>
    </span>
  )
}

function Progress({ run: { total, done, failed, isOver } }: { run: Run }) {
  return (
    <span role="status" className="progress">
      {!isOver && <progress max={total} value={done + failed.length} aria-label="Sessions ended" />}
      {done} of {total} ended
      {failed.length > 0 && <span className="bad">{failed.length} failed</span>}
    </span>
  )
}

/** A browser of a pool may have the next lease by now. */
const pathOf = ({ session_id: id, lease_id: lease }: Browser) =>
  `/browsers/${encodeURIComponent(id)}${lease === undefined ? '' : `?lease_id=${encodeURIComponent(lease)}`}`
