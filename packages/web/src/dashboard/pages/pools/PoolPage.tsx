import { useState } from 'react'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useAsk, usePower } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Confirm } from '../../parts/Dialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { Time } from '../../parts/Time.tsx'
import { say } from '../../parts/toasts.ts'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { useUrl } from '../../parts/use-url.ts'
import { AcquireDialog } from './AcquireDialog.tsx'
import { Fill } from './Fill.tsx'
import { Leases } from './Leases.tsx'
import { PoolFacts } from './PoolFacts.tsx'
import { PoolForm } from './PoolForm.tsx'

const REFETCH_MS = 10_000
type Open = 'acquire' | 'edit'

export function PoolPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const power = usePower()
  const ask = useAsk()
  const navigate = useNavigate()
  const url = useUrl()
  const open = url.text('open')
  const path = `/browser_pools/${encodeURIComponent(id)}`
  const query = useOne<BrowserPool>(['browser_pool', id], (signal) => ask(path, { signal }), {
    refetchMs: REFETCH_MS,
  })
  const canWrite = power.can('browsers:write')
  const setOpen = (what: Open | undefined) => url.set({ open: what }, { replace: what === undefined })
  const [isDeleting, setDeleting] = useState(false)
  const [isFlushing, setFlushing] = useState(false)
  const flush = useAct({
    run: () => ask<void>(`${path}/flush`, { method: 'POST' }),
    done: 'The available browsers are being replaced',
    changes: ['browser_pool'],
    isQuiet: true,
  })
  const { data: pool } = query
  const above = (
    <Link to="/pools" search={keepProject}>
      Pools
    </Link>
  )
  if (!pool) {
    return (
      <Page title="Pool" above={above}>
        <Pending query={query} what="the pool" />
      </Page>
    )
  }
  const { acquired_count: leased, available_count: available } = pool
  const remove = async () => {
    await ask<void>(path, { method: 'DELETE', body: leased > 0 ? { force: true } : {} })
    say('The pool is deleted')
    void navigate({ to: '/pools', search: keepProject })
  }
  return (
    <Page
      title={pool.name ?? pool.id}
      above={above}
      about={
        <>
          <Copyable text={pool.id} />
          <span>
            created <Time at={pool.created_at} />
          </span>
        </>
      }
      actions={
        canWrite ? (
          <>
            <button type="button" className="primary" onClick={() => setOpen('acquire')}>
              <Icon name="play" size={16} /> Acquire a browser
            </button>
            <button type="button" onClick={() => setOpen('edit')}>
              Change
            </button>
            <Menu
              label="More"
              items={[
                { text: 'Replace available browsers', icon: 'refresh', onSelect: () => setFlushing(true) },
                { text: 'Delete the pool', icon: 'trash', isDanger: true, onSelect: () => setDeleting(true) },
              ]}
            />
          </>
        ) : (
          <span className="quiet">This key may only look: it lacks browsers:write</span>
        )
      }
    >
      <section className="card" aria-label="Fill">
        <Fill pool={pool} />
      </section>
      <Leases pool={pool} />
      <PoolFacts pool={pool} />
      {open === 'acquire' && canWrite && <AcquireDialog pool={pool} onClose={() => setOpen(undefined)} />}
      {open === 'edit' && canWrite && <PoolForm pool={pool} onClose={() => setOpen(undefined)} />}
      <Confirm
        title="Replace the available browsers?"
        text={`${counted(available)} will end, and the pool fills again with new ones. Leased browsers stay.`}
        action="Replace"
        isOpen={isFlushing}
        onClose={() => setFlushing(false)}
        onConfirm={() => flush.mutateAsync()}
      />
      <Confirm
        title={`Delete the pool ${pool.name ?? pool.id}?`}
        text={
          leased > 0
            ? `${counted(leased)} of it ${leased === 1 ? 'is' : 'are'} leased. Their sessions end at once, and their clients are disconnected.`
            : 'Its available browsers end. Nobody has leased one.'
        }
        action={leased > 0 ? 'Delete, and end the leases' : 'Delete'}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={remove}
      />
    </Page>
  )
}

const counted = (count: number) => (count === 1 ? '1 browser' : `${count} browsers`)
