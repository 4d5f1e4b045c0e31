// What was sent to a receiver, and what waits.
import { TEST_EVENT, webhookEventTypes } from '@berth/contracts/webhook-event-types'
import { deliveryStates, type Webhook, type WebhookDelivery } from '@berth/contracts/webhooks'
import { useAsk } from '../../api/context.ts'
import { idOf } from '../../parts/id-of.ts'
import { List } from '../../parts/List.tsx'
import { Empty } from '../../parts/Notes.tsx'
import { Card } from '../../parts/Page.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { DeliveryBadge, stateWords } from './DeliveryBadge.tsx'
import { DeliveryDetails } from './DeliveryDetails.tsx'
import { PATH, REFETCH_MS } from './webhook.ts'

const columns: readonly Column<WebhookDelivery>[] = [
  {
    name: 'Event',
    width: 'minmax(0, 1fr)',
    isMain: true,
    render: ({ type, subject }) => (
      <span className="name-cell">
        <span className="strong">{type}</span>
        <small>{subject}</small>
      </span>
    ),
  },
  { name: 'State', width: '120px', isMain: true, render: ({ state }) => <DeliveryBadge state={state} /> },
  { name: 'Attempts', width: '90px', render: ({ attempts }) => attempts },
  { name: 'Happened', width: '130px', render: ({ created_at: at }) => <Time at={at} /> },
  {
    name: 'Next attempt',
    width: '130px',
    render: ({ next_attempt_at: at }) => (at === undefined ? '' : <Time at={at} />),
  },
]

export function Deliveries({ webhook }: { webhook: Webhook }) {
  const ask = useAsk()
  const url = useUrl()
  const state = url.text('state')
  const type = url.text('type')
  const open = url.text('open')
  const path = `${PATH}/${encodeURIComponent(webhook.id)}/deliveries`
  const list = useLongList<WebhookDelivery>({
    key: ['webhook', 'deliveries', webhook.id, state, type],
    idOf,
    refetchMs: REFETCH_MS,
    read: ({ limit, offset }, signal) => {
      const search = new URLSearchParams({
        limit: String(limit),
        offset: String(offset),
        ...(state !== '' && { state }),
        ...(type !== '' && { type }),
      })
      return ask(`${path}?${search}`, { signal })
    },
  })
  const filter = (name: string, value: string) =>
    url.set({ [name]: value === '' ? undefined : value }, { replace: true })
  return (
    <Card title="Deliveries">
      <List
        label="Deliveries"
        list={list}
        columns={columns}
        idOf={idOf}
        filters={
          <>
            <select aria-label="State" value={state} onChange={({ target }) => filter('state', target.value)}>
              <option value="">Any state</option>
              {deliveryStates.map((each) => (
                <option key={each} value={each}>
                  {stateWords[each]}
                </option>
              ))}
            </select>
            <select aria-label="Event" value={type} onChange={({ target }) => filter('type', target.value)}>
              <option value="">Any event</option>
              {[...webhookEventTypes, TEST_EVENT].map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </>
        }
        isFiltered={state !== '' || type !== ''}
        onOpen={({ id }) => url.set({ open: id })}
        empty={
          <Empty
            icon="webhooks"
            title="Nothing was sent yet"
            text="Send a test, or wait until something happens."
          />
        }
      />
      {open !== '' && (
        <DeliveryDetails webhook={webhook} id={open} onClose={() => url.set({ open: undefined })} />
      )}
    </Card>
  )
}
