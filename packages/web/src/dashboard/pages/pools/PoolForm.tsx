// Creates a pool, or changes one.
import { useMemo, useState, type FormEvent } from 'react'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import { useNavigate } from '@tanstack/react-router'
import { useAsk } from '../../api/context.ts'
import { fieldProblems } from '../../api/field-problems.ts'
import { Dialog } from '../../parts/Dialog.tsx'
import { Check } from '../../parts/Field.tsx'
import { ProblemsContext } from '../../parts/Form.tsx'
import { ErrorNote } from '../../parts/Notes.tsx'
import { keepProject } from '../../parts/project.ts'
import { useAct } from '../../parts/use-act.ts'
import { ExtensionOptions, NetworkOptions, ProfileOptions } from '../sessions/create/BelongingOptions.tsx'
import { ScreenOptions } from '../sessions/create/BrowserOptions.tsx'
import { PolicyOptions, WatchOptions } from '../sessions/create/WatchOptions.tsx'
import { PoolBasics } from './PoolBasics.tsx'
import { changesBetween, draftOf, emptyPoolDraft, poolRequestOf, type PoolDraft } from './pool-draft.ts'

export function PoolForm({ pool, onClose }: { pool?: BrowserPool; onClose: () => void }) {
  const ask = useAsk()
  const navigate = useNavigate()
  const first = useMemo(() => (pool ? draftOf(pool) : emptyPoolDraft), [pool])
  // What others change meanwhile is not undone: only what was changed here is sent.
  const [before] = useState(first)
  const [draft, setDraft] = useState(first)
  const [replacesIdle, setReplacesIdle] = useState(false)
  const [wasSent, setSent] = useState(false)
  const { request, problems: own } = useMemo(() => poolRequestOf(draft), [draft])
  const save = useAct({
    run: () =>
      pool
        ? ask<BrowserPool>(`/browser_pools/${encodeURIComponent(pool.id)}`, {
            method: 'PATCH',
            body: {
              ...changesBetween(poolRequestOf(before).request, request),
              ...(replacesIdle && { discard_all_idle: true }),
            },
          })
        : ask<BrowserPool>('/browser_pools', { method: 'POST', body: request }),
    done: pool ? 'The pool is changed' : 'The pool is created, and fills now',
    changes: ['browser_pool', 'overview'],
    isQuiet: true,
    onDone: ({ id }) => {
      onClose()
      if (!pool) void navigate({ to: '/pools/$id', params: { id }, search: keepProject })
    },
  })
  const problems = { ...(save.error !== null && fieldProblems(save.error)), ...(wasSent && own) }
  const set = (change: Partial<PoolDraft>) => setDraft((old) => ({ ...old, ...change }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setSent(true)
    if (Object.keys(own).length === 0) save.mutate()
  }
  const form = { draft, set, isPool: true }
  return (
    <Dialog title={pool ? 'Change the pool' : 'Create a pool'} isOpen isWide onClose={onClose}>
      <form className="create one-column" onSubmit={submit} noValidate>
        <div className="create-form">
          <ProblemsContext value={problems}>
            <PoolBasics draft={draft} set={set} isNew={!pool} />
            <ScreenOptions {...form} />
            <ProfileOptions {...form} />
            <NetworkOptions {...form} />
            <ExtensionOptions {...form} />
            <WatchOptions {...form} />
            <PolicyOptions {...form} />
          </ProblemsContext>
          {pool && (
            <Check
              label="Replace available browsers now"
              hint="Otherwise only new browsers get the new settings. Leased browsers keep theirs."
              isChecked={replacesIdle}
              onChange={setReplacesIdle}
            />
          )}
        </div>
        {save.error !== null && <ErrorNote error={save.error} />}
        <footer>
          <button type="submit" className="primary" disabled={save.isPending}>
            {save.isPending ? 'Saving…' : pool ? 'Save' : 'Create'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
