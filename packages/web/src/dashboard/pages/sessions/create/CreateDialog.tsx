// Creates a session with any option of POST /browsers, and shows the code that does the same.
import { useEffect, useMemo, useRef, useState, type FormEvent } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useApi } from '../../../api/context.ts'
import { fieldProblems } from '../../../api/field-problems.ts'
import { Dialog } from '../../../parts/Dialog.tsx'
import { ProblemsContext } from '../../../parts/Form.tsx'
import { ErrorNote } from '../../../parts/Notes.tsx'
import { keepProject } from '../../../parts/project.ts'
import { say } from '../../../parts/toasts.ts'
import { BasicOptions } from './BasicOptions.tsx'
import { ExtensionOptions, NetworkOptions, ProfileOptions } from './BelongingOptions.tsx'
import { PlaceOptions, ScreenOptions } from './BrowserOptions.tsx'
import { CodePanel } from './CodePanel.tsx'
import { emptyDraft, type Draft } from './draft.ts'
import { requestOf } from './request.ts'
import { PolicyOptions, WatchOptions } from './WatchOptions.tsx'

export function CreateDialog({ onClose }: { onClose: () => void }) {
  const { client } = useApi()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [draft, setDraft] = useState(emptyDraft)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [wasSent, setSent] = useState(false)
  const cancel = useRef<AbortController>(undefined)
  useEffect(() => () => cancel.current?.abort(), [])
  const { request, problems: own } = useMemo(() => requestOf(draft), [draft])
  const problems = useMemo(
    () => ({ ...(error !== undefined && fieldProblems(error)), ...(wasSent && own) }),
    [error, own, wasSent],
  )
  const set = (change: Partial<Draft>) => setDraft((old) => ({ ...old, ...change }))

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setSent(true)
    if (isBusy || Object.keys(own).length > 0) return
    const over = new AbortController()
    cancel.current = over
    setBusy(true)
    setError(undefined)
    try {
      // Not tried again: nobody wants two sessions.
      const { session_id: id } = await client.browsers.create(request, {
        signal: over.signal,
        maxRetries: 0,
      })
      say('The session runs')
      void queries.invalidateQueries({ queryKey: ['browser'] })
      await navigate({ to: '/sessions/$id', params: { id }, search: keepProject })
    } catch (thrown) {
      if (!over.signal.aborted) setError(thrown)
    } finally {
      setBusy(false)
    }
  }

  const form = { draft, set }
  return (
    <Dialog
      title="Create a session"
      isOpen
      isWide
      onClose={() => {
        cancel.current?.abort()
        onClose()
      }}
    >
      <form className="create" onSubmit={(event) => void submit(event)} noValidate>
        <div className="create-form">
          <ProblemsContext value={problems}>
            <BasicOptions {...form} />
            <ScreenOptions {...form} />
            <PlaceOptions {...form} />
            <ProfileOptions {...form} />
            <NetworkOptions {...form} />
            <ExtensionOptions {...form} />
            <WatchOptions {...form} />
            <PolicyOptions {...form} />
          </ProblemsContext>
        </div>
        <CodePanel request={request} />
        {error !== undefined && <ErrorNote error={error} />}
        <footer>
          {isBusy && (
            <span className="quiet starting" role="status">
              <span className="spinner" aria-hidden="true" /> Starting the browser
            </span>
          )}
          {isBusy ? (
            // Keys, because a click on a button that becomes the other one would send the form.
            <button key="cancel" type="button" onClick={() => cancel.current?.abort()}>
              Cancel
            </button>
          ) : (
            <button key="create" type="submit" className="primary">
              Create
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  )
}
