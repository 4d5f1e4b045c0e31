import { useState } from 'react'
import type { Webhook, WebhookWithSecret } from '@berth/contracts/webhooks'
import { useNavigate } from '@tanstack/react-router'
import { useAsk, usePower } from '../../api/context.ts'
import { curl } from '../../parts/command.ts'
import { idOf } from '../../parts/id-of.ts'
import { ListPage } from '../../parts/ListPage.tsx'
import { Empty } from '../../parts/Notes.tsx'
import { keepProject } from '../../parts/project.ts'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { NewSecret } from './NewSecret.tsx'
import { eventsOf, PATH, placeOf, REFETCH_MS } from './webhook.ts'
import { WebhookForm } from './WebhookForm.tsx'
import { WebhookState } from './WebhookState.tsx'

const columns: readonly Column<Webhook>[] = [
  {
    name: 'Receiver',
    width: 'minmax(0, 1.4fr)',
    isMain: true,
    render: ({ url, description }) => (
      <span className="name-cell">
        <span className="strong">{placeOf(url)}</span>
        {description !== undefined && <small>{description}</small>}
      </span>
    ),
  },
  { name: 'Events', width: 'minmax(0, 1fr)', render: ({ event_types: types }) => eventsOf(types) },
  { name: 'State', width: '130px', isMain: true, render: (webhook) => <WebhookState webhook={webhook} /> },
  {
    name: 'Last accepted',
    width: '140px',
    render: ({ last_success_at: at }) =>
      at === undefined ? <span className="quiet">Never</span> : <Time at={at} />,
  },
]

export function WebhooksPage() {
  const ask = useAsk()
  const navigate = useNavigate()
  const url = useUrl()
  const canWrite = usePower().can('webhooks:write')
  const [created, setCreated] = useState<WebhookWithSecret>()
  const query = url.text('q')
  const list = useLongList<Webhook>({
    key: ['webhook', query],
    idOf,
    refetchMs: REFETCH_MS,
    read: ({ limit, offset }, signal) => {
      const search = new URLSearchParams({ limit: String(limit), offset: String(offset), query })
      return ask(`${PATH}?${search}`, { signal })
    },
  })
  return (
    <ListPage
      title="Webhooks"
      about="Tell your own servers what happens here."
      create={canWrite ? 'Create a webhook' : undefined}
      search="Search by address, description or id"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => void navigate({ to: `/webhooks/${id}`, search: keepProject })}
      empty={
        <Empty
          icon="webhooks"
          title="No webhooks yet"
          text="Berth can send an event when a session ends, a recording is ready, or a login needs a person."
          command={curl({
            path: PATH,
            body: { url: 'https://receiver.example.com/berth', event_types: ['session.ended'] },
          })}
        />
      }
    >
      {url.has('create') && canWrite && (
        <WebhookForm onClose={() => url.set({ create: undefined })} onCreated={setCreated} />
      )}
      {created && <NewSecret secret={created.secret} onClose={() => setCreated(undefined)} />}
    </ListPage>
  )
}
