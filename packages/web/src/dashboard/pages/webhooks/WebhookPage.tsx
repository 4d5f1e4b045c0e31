import { useState, type ReactNode } from 'react'
import type { Webhook, WebhookStatus, WebhookTestResult } from '@berth/contracts/webhooks'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useAsk, usePower } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Confirm } from '../../parts/Dialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { duration, Time } from '../../parts/Time.tsx'
import { say, sayProblem } from '../../parts/toasts.ts'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { Deliveries } from './Deliveries.tsx'
import { NewSecret } from './NewSecret.tsx'
import { RotateSecret } from './RotateSecret.tsx'
import { eventsOf, PATH, placeOf, REFETCH_MS } from './webhook.ts'
import { WebhookForm } from './WebhookForm.tsx'
import { WebhookState } from './WebhookState.tsx'

export function WebhookPage() {
  const { id = '' } = useParams({ strict: false })
  const ask = useAsk()
  const query = useOne<Webhook>(
    ['webhook', id],
    (signal) => ask(`${PATH}/${encodeURIComponent(id)}`, { signal }),
    { refetchMs: REFETCH_MS },
  )
  const above = (
    <Link to="/webhooks" search={keepProject}>
      Webhooks
    </Link>
  )
  if (query.data) return <Loaded webhook={query.data} above={above} />
  return (
    <Page title="Webhook" above={above}>
      <Pending query={query} what="the webhook" />
    </Page>
  )
}

function Loaded({ webhook, above }: { webhook: Webhook; above: ReactNode }) {
  const canWrite = usePower().can('webhooks:write')
  return (
    <Page
      title={placeOf(webhook.url)}
      above={above}
      about={
        <>
          <WebhookState webhook={webhook} />
          <Copyable text={webhook.id} />
          {webhook.description !== undefined && <span>{webhook.description}</span>}
        </>
      }
      actions={canWrite && <Actions webhook={webhook} />}
    >
      <Card title="About">
        <Facts
          facts={[
            ['Address', <Copyable key="url" text={webhook.url} />],
            ['Events', eventsOf(webhook.event_types)],
            ['Last accepted', webhook.last_success_at && <Time at={webhook.last_success_at} />],
            ['Failing since', webhook.failing_since && <Time at={webhook.failing_since} />],
            ['Last problem', webhook.last_error],
            ['Failed', webhook.last_error_at && <Time at={webhook.last_error_at} />],
            ['Events not sent', webhook.dropped_events > 0 ? <Dropped webhook={webhook} /> : undefined],
            ['The old secret ends', webhook.old_secret_until && <Time at={webhook.old_secret_until} />],
            ['Created', <Time key="created" at={webhook.created_at} />],
          ]}
        />
      </Card>
      <Deliveries webhook={webhook} />
    </Page>
  )
}

function Dropped({ webhook: { dropped_events: count, last_dropped_at: at } }: { webhook: Webhook }) {
  return (
    <>
      {count.toLocaleString('en')}, because too many waited; {at !== undefined && <Time at={at} />}
    </>
  )
}

function Actions({ webhook }: { webhook: Webhook }) {
  const ask = useAsk()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'edit' | 'rotate' | 'delete'>()
  const [secret, setSecret] = useState<string>()
  const close = () => setOpen(undefined)
  const path = `${PATH}/${encodeURIComponent(webhook.id)}`
  const test = useAct({
    run: () => ask<WebhookTestResult>(`${path}/test`, { method: 'POST' }),
    changes: ['webhook'],
    onDone: ({ success, status, error, duration_ms: ms }) => {
      if (success) say(`The receiver answered ${status} after ${duration(ms)}: it works`)
      else sayProblem({ message: `It does not work. ${error ?? ''}` })
    },
  })
  const setStatus = useAct({
    run: (status: WebhookStatus) => ask(path, { method: 'PATCH', body: { status } }),
    done: (_answer, status) => `The webhook is ${status}`,
    changes: ['webhook'],
  })
  const remove = useAct({
    run: () => ask(path, { method: 'DELETE' }),
    done: 'The webhook is deleted',
    changes: ['webhook'],
    isQuiet: true,
    onDone: () => void navigate({ to: '/webhooks', search: keepProject, replace: true }),
  })
  const isEnabled = webhook.status === 'enabled'
  return (
    <>
      <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
        <Icon name="play" size={16} /> {test.isPending ? 'Testing…' : 'Test'}
      </button>
      <button
        type="button"
        disabled={setStatus.isPending}
        onClick={() => setStatus.mutate(isEnabled ? 'disabled' : 'enabled')}
      >
        {isEnabled ? 'Disable' : 'Enable'}
      </button>
      <Menu
        label="More actions"
        items={[
          { text: 'Change', icon: 'settings', onSelect: () => setOpen('edit') },
          { text: 'Replace the secret', icon: 'keys', onSelect: () => setOpen('rotate') },
          { text: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setOpen('delete') },
        ]}
      />
      {open === 'edit' && <WebhookForm webhook={webhook} onClose={close} />}
      {open === 'rotate' && (
        <RotateSecret id={webhook.id} onClose={close} onRotated={(rotated) => setSecret(rotated.secret)} />
      )}
      {secret !== undefined && <NewSecret secret={secret} onClose={() => setSecret(undefined)} />}
      <Confirm
        title={`Delete the webhook to ${placeOf(webhook.url)}?`}
        text="Nothing more is sent, also not what waits. The log of its deliveries is gone."
        action="Delete"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync()}
      />
    </>
  )
}
