import type { Webhook, WebhookAttempt, WebhookDeliveryDetails } from '@berth/contracts/webhooks'
import { useAsk, usePower } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Code, Copyable } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Facts } from '../../parts/Page.tsx'
import { duration, Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { DeliveryBadge } from './DeliveryBadge.tsx'
import { PATH, REFETCH_MS } from './webhook.ts'

export interface DeliveryDetailsProps {
  readonly webhook: Webhook
  readonly id: string
  readonly onClose: () => void
}

export function DeliveryDetails({ webhook, id, onClose }: DeliveryDetailsProps) {
  const ask = useAsk()
  const canWrite = usePower().can('webhooks:write')
  const path = `${PATH}/${encodeURIComponent(webhook.id)}/deliveries/${encodeURIComponent(id)}`
  const query = useOne<WebhookDeliveryDetails>(
    ['webhook', 'delivery', webhook.id, id],
    (signal) => ask(path, { signal }),
    { refetchMs: REFETCH_MS },
  )
  const redeliver = useAct({
    run: () => ask(`${path}/redeliver`, { method: 'POST' }),
    done: 'The event is sent again',
    changes: ['webhook'],
  })
  const { data: delivery } = query
  return (
    <Dialog title={delivery?.type ?? 'Delivery'} isOpen isWide onClose={onClose}>
      {delivery ? (
        <>
          <Facts
            facts={[
              ['State', <DeliveryBadge key="state" state={delivery.state} />],
              ['Happened', <Time key="created" at={delivery.created_at} />],
              ['Next attempt', delivery.next_attempt_at && <Time at={delivery.next_attempt_at} />],
              ['About', <Copyable key="subject" text={delivery.subject} />],
              ['webhook-id', <Copyable key="id" text={delivery.id} />],
            ]}
          />
          {canWrite && (
            <p className="actions">
              <button
                type="button"
                disabled={redeliver.isPending || webhook.status === 'disabled'}
                title={webhook.status === 'disabled' ? 'Enable the webhook first' : undefined}
                onClick={() => redeliver.mutate()}
              >
                <Icon name="refresh" size={16} /> Send again
              </button>
            </p>
          )}
          <h3>Attempts</h3>
          {delivery.log.length === 0 ? (
            <p className="quiet">None yet.</p>
          ) : (
            <ul className="events">
              {delivery.log.map((attempt) => (
                <Attempt key={attempt.number} attempt={attempt} />
              ))}
            </ul>
          )}
          <h3>What is sent</h3>
          <Code label="Event" text={JSON.stringify(delivery.event, undefined, 2)} />
        </>
      ) : (
        <Pending query={query} what="the delivery" />
      )}
    </Dialog>
  )
}

function Attempt({ attempt }: { attempt: WebhookAttempt }) {
  const { number, status, error, answer, started_at: at, duration_ms: ms } = attempt
  return (
    <li>
      <span className="strong">{number}.</span>
      <Badge tone={error === null ? 'good' : 'bad'}>{status ?? 'No answer'}</Badge>
      <span className="quiet">
        <Time at={at} />, {duration(ms)}
      </span>
      {error !== null && <p>{error}</p>}
      {answer !== null && answer !== '' && (
        <p>
          <code>{answer}</code>
        </p>
      )}
    </li>
  )
}
