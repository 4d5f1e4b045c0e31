// Leases a browser of the pool. When none is available it waits, until one is or somebody cancels.
import { useEffect, useRef, useState, type FormEvent } from 'react'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import type { Browser } from '@berth/contracts/browsers'
import { useQueryClient } from '@tanstack/react-query'
import { useAsk } from '../../api/context.ts'
import { fieldProblems } from '../../api/field-problems.ts'
import { Dialog } from '../../parts/Dialog.tsx'
import { ProblemsContext, TextField } from '../../parts/Form.tsx'
import { ErrorNote } from '../../parts/Notes.tsx'
import { duration } from '../../parts/Time.tsx'
import { tagsOf } from '../sessions/create/request.ts'
import { Lease } from './Lease.tsx'

const TICK_MS = 1_000

export function AcquireDialog({ pool, onClose }: { pool: BrowserPool; onClose: () => void }) {
  const ask = useAsk()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [tags, setTags] = useState('')
  const [url, setUrl] = useState('')
  const [seconds, setSeconds] = useState('')
  const [state, setState] = useState<'filling' | 'waiting' | 'late' | 'done'>('filling')
  const [lease, setLease] = useState<Browser>()
  const [error, setError] = useState<unknown>()
  const cancel = useRef<AbortController>(undefined)
  // Who closes the page gets no lease.
  useEffect(() => () => cancel.current?.abort(), [])

  const acquire = async () => {
    const over = new AbortController()
    cancel.current = over
    setError(undefined)
    setState('waiting')
    try {
      const session = await ask<Browser | undefined>(
        `/browser_pools/${encodeURIComponent(pool.id)}/acquire`,
        {
          method: 'POST',
          signal: over.signal,
          body: {
            ...(name.trim() !== '' && { name: name.trim() }),
            ...tagsOf(tags),
            ...(url.trim() !== '' && { start_url: url.trim() }),
            ...(seconds.trim() !== '' && { acquire_timeout_seconds: Number(seconds) }),
          },
        },
      )
      setLease(session)
      setState(session ? 'done' : 'late')
      for (const kind of ['browser', 'browser_pool']) void queries.invalidateQueries({ queryKey: [kind] })
    } catch (thrown) {
      setState('filling')
      if (!over.signal.aborted) setError(thrown)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void acquire()
  }
  const problems = fieldProblems(error)
  return (
    <Dialog
      title={lease ? 'The browser is yours' : 'Acquire a browser'}
      isOpen
      onClose={() => {
        cancel.current?.abort()
        onClose()
      }}
    >
      {lease ? (
        <Lease session={lease} onClose={onClose} />
      ) : (
        <form className="acquire" onSubmit={submit} noValidate>
          <ProblemsContext value={problems}>
            <TextField name="name" label="Name" isOptional autoFocus value={name} onChange={setName} />
            <TextField name="start_url" label="Address to open" isOptional value={url} onChange={setUrl} />
            <TextField
              name="tags"
              label="Tags"
              hint="One name=value on each line"
              isOptional
              lines={2}
              value={tags}
              onChange={setTags}
            />
            <TextField
              name="acquire_timeout_seconds"
              label="Wait at most"
              hint="Seconds, if no browser is available; as long as the server allows when empty"
              isOptional
              isNumber
              value={seconds}
              onChange={setSeconds}
            />
          </ProblemsContext>
          {error !== undefined && <ErrorNote error={error} />}
          {state === 'late' && (
            <p role="status" className="warn">
              No browser became available in time.
            </p>
          )}
          {state === 'waiting' && <Waiting available={pool.available_count} />}
          <footer className="actions">
            {state === 'waiting' ? (
              // Keys, because a click on a button that becomes the other one would send the form.
              <button key="cancel" type="button" onClick={() => cancel.current?.abort()}>
                Cancel
              </button>
            ) : (
              <button key="acquire" type="submit" className="primary">
                {state === 'late' ? 'Keep waiting' : 'Acquire'}
              </button>
            )}
          </footer>
        </form>
      )}
    </Dialog>
  )
}

function Waiting({ available }: { available: number }) {
  const [since] = useState(Date.now)
  const [now, setNow] = useState(since)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <p role="status" className="waiting">
      <span className="spinner" aria-hidden="true" />
      {available > 0 ? 'Taking a browser' : 'Waiting for a browser'}
      <span className="quiet number" aria-hidden="true">
        {duration(Math.floor((now - since) / 1_000) * 1_000 || 1_000)}
      </span>
    </p>
  )
}
