// Where the telemetry of sessions is exported to.
import { useState } from 'react'
import type { OtlpDestination } from '@berth/contracts/telemetry-destinations'
import { useAsk, usePower } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { curl } from '../../parts/command.ts'
import { Code } from '../../parts/Copy.tsx'
import { Confirm } from '../../parts/Dialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { idOf } from '../../parts/id-of.ts'
import { Menu } from '../../parts/Menu.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Card } from '../../parts/Page.tsx'
import { ShowMore } from '../../parts/ShowMore.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { DestinationForm, PATH } from './DestinationForm.tsx'

const REFETCH_MS = 10_000

export function Destinations() {
  const ask = useAsk()
  const url = useUrl()
  const canWrite = usePower().can('browsers:write')
  // How the deliveries go is no change that the server announces.
  const list = useLongList<OtlpDestination>({
    key: ['telemetry_destination'],
    idOf,
    read: ({ limit, offset }, signal) => ask(`${PATH}?limit=${limit}&offset=${offset}`, { signal }),
    refetchMs: REFETCH_MS,
  })
  return (
    <Card
      title="Telemetry destinations"
      actions={
        canWrite && (
          <button type="button" onClick={() => url.set({ create: 'destination' })}>
            <Icon name="plus" size={16} /> Add
          </button>
        )
      }
    >
      {list.isPending || list.error ? (
        <Pending query={list} what="the destinations" />
      ) : list.rows.length === 0 ? (
        <div className="form">
          <p className="quiet">None yet. Sessions can export what they see to a collector, over OTLP.</p>
          <Code
            label="First command"
            text={curl({ path: PATH, body: { name: 'collector', endpoint: 'https://otlp.example.com' } })}
          />
        </div>
      ) : (
        <ul className="events">
          {list.rows.map((each) => (
            <Destination key={each.id} destination={each} canWrite={canWrite} />
          ))}
        </ul>
      )}
      <ShowMore list={list} />
      {canWrite && url.text('create') === 'destination' && (
        <DestinationForm onClose={() => url.set({ create: undefined })} />
      )}
    </Card>
  )
}

function Destination({ destination, canWrite }: { destination: OtlpDestination; canWrite: boolean }) {
  const ask = useAsk()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const close = () => setOpen(undefined)
  const remove = useAct({
    run: () => ask(`${PATH}/${encodeURIComponent(destination.id)}`, { method: 'DELETE' }),
    done: 'The destination is deleted',
    changes: ['telemetry_destination'],
    isQuiet: true,
  })
  const { name, endpoint, delivery } = destination
  return (
    <li>
      <span className="strong">{name}</span>
      <code>{endpoint}</code>
      <Badge tone={delivery.consecutive_failures > 0 ? 'bad' : delivery.last_success_at ? 'good' : 'quiet'}>
        {delivery.consecutive_failures > 0
          ? 'Fails'
          : delivery.last_success_at
            ? 'Works'
            : 'Nothing sent yet'}
      </Badge>
      <span className="quiet">
        {delivery.delivered_events} delivered, {delivery.backlog_events} wait
        {delivery.last_success_at !== undefined && (
          <>
            , last <Time at={delivery.last_success_at} />
          </>
        )}
      </span>
      {canWrite && (
        <Menu
          label={`Actions for ${name}`}
          items={[
            { text: 'Change', icon: 'settings', onSelect: () => setOpen('edit') },
            { text: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setOpen('delete') },
          ]}
        />
      )}
      {delivery.last_error !== undefined && delivery.consecutive_failures > 0 && (
        <p className="bad">{delivery.last_error}</p>
      )}
      {open === 'edit' && <DestinationForm destination={destination} onClose={close} />}
      <Confirm
        title={`Delete ${name}?`}
        text="Events that wait for it are not delivered any more."
        action="Delete"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync()}
      />
    </li>
  )
}
