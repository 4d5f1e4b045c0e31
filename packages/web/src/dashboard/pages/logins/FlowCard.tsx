// The login that runs: what it does, what it waits for, and the page for somebody else.
import { useState } from 'react'
import type { ManagedAuth, ManagedAuthEvent } from '@berth/contracts/auth-connections'
import { useQueryClient } from '@tanstack/react-query'
import { useAsk, usePower } from '../../api/context.ts'
import { useFollow } from '../../api/follow.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Card } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { isWeb } from '../../parts/WebLink.tsx'
import { FlowState } from './LoginState.tsx'
import { Question } from './Question.tsx'

export function FlowCard({ login }: { login: ManagedAuth }) {
  const ask = useAsk()
  const canAct = usePower().can('logins:write')
  const queries = useQueryClient()
  const isRunning = login.flow_status === 'IN_PROGRESS'
  const path = `/auth/connections/${encodeURIComponent(login.id)}`
  const [event, setEvent] = useState<ManagedAuthEvent>()
  useFollow<ManagedAuthEvent>({
    path: isRunning ? `${path}/events` : undefined,
    onEvent: (next) => next.event === 'managed_auth_state' && setEvent(next),
    isLast: ({ flow_status: status }) => status !== undefined && status !== 'IN_PROGRESS',
    onEnd: () => {
      setEvent(undefined)
      void queries.invalidateQueries({ queryKey: ['auth_connection'] })
    },
  })
  const cancel = useAct({
    run: () => ask(`${path}/cancel`, { method: 'POST' }),
    done: 'The login is cancelled',
    changes: ['auth_connection'],
  })
  if (login.flow_status == null) return null
  if (!isRunning) return <LastFlow login={login} />
  const now: ManagedAuth | ManagedAuthEvent = event ?? login
  return (
    <Card
      title="Login in progress"
      actions={
        canAct && (
          <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            <Icon name="close" size={16} /> Cancel
          </button>
        )
      }
    >
      <div className="form" aria-live="polite">
        <p className="actions">
          <FlowState login={{ flow_status: 'IN_PROGRESS', flow_step: now.flow_step ?? null }} />
          {login.flow_expires_at != null && (
            <span className="quiet">
              Ends <Time at={login.flow_expires_at} />
            </span>
          )}
        </p>
        {now.website_error != null && <p className="bad">The website says: {now.website_error}</p>}
        {now.external_action_message != null && <p className="strong">{now.external_action_message}</p>}
        {canAct && <Question key={now.interaction_id ?? ''} path={path} asked={now} />}
        <HostedPage url={now.hosted_url ?? login.hosted_url} />
        <Watch url={now.live_view_url ?? login.live_view_url} />
      </div>
    </Card>
  )
}

function LastFlow({ login }: { login: ManagedAuth }) {
  const { error_message: message, website_error: said } = login
  if (login.flow_status === 'SUCCESS') return null
  return (
    <Card title="Latest login">
      <FlowState login={login} />
      {message != null && <p>{message}</p>}
      {said != null && <p className="quiet">The website said: {said}</p>}
    </Card>
  )
}

/** It cannot stand in this page: no page may frame it, so that none can lure people. */
function HostedPage({ url }: { url: string | null | undefined }) {
  if (url == null || !isWeb(url)) return null
  return (
    <details>
      <summary>Let somebody else log in</summary>
      <p className="quiet">Send them this address. It works once.</p>
      <p className="actions">
        <Copyable text={url} />
        <a className="button" href={url} target="_blank" rel="noreferrer">
          <Icon name="link" size={16} /> Open in a new tab
        </a>
      </p>
    </details>
  )
}

function Watch({ url }: { url: string | null | undefined }) {
  const [isOpen, setOpen] = useState(false)
  if (url == null || !isWeb(url)) return null
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Watch the browser</summary>
      {isOpen && <iframe className="frame-box" title="Browser of the login" src={url} />}
    </details>
  )
}
