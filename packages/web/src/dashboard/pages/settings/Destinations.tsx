// Where the telemetry of sessions is exported to.
import { useState } from 'react'
import type { OtlpDestination } from '@berth/contracts/telemetry-destinations'
import { useAsk, usePower } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { curl } from '../../parts/command.ts'
import { Code } from '../../parts/Copy.tsx'
import { Confirm } from '../../parts/Dialog.tsx'
import { filled, FormDialog, TextField } from '../../parts/Form.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Card } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useList } from '../../parts/use-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { newRow, ValueRows, valuesOf, type ValueRow } from '../../parts/ValueRows.tsx'

const REFETCH_MS = 10_000
const PATH = '/telemetry/destinations'

export function Destinations() {
  const ask = useAsk()
  const url = useUrl()
  const canWrite = usePower().can('browsers:write')
  // How the deliveries go is no change that the server announces.
  const list = useList<OtlpDestination>(
    ['telemetry_destination'],
    ({ limit, offset }, signal) => ask(`${PATH}?limit=${limit}&offset=${offset}`, { signal }),
    { refetchMs: REFETCH_MS },
  )
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
      {list.hasNextPage && (
        <button type="button" onClick={list.onEnd}>
          Show more
        </button>
      )}
      {canWrite && url.text('create') === 'destination' && (
        <CreateDestination onClose={() => url.set({ create: undefined })} />
      )}
    </Card>
  )
}

function Destination({ destination, canWrite }: { destination: OtlpDestination; canWrite: boolean }) {
  const ask = useAsk()
  const [isAsking, setAsking] = useState(false)
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
        <button type="button" className="plain" aria-label={`Delete ${name}`} onClick={() => setAsking(true)}>
          <Icon name="trash" size={16} />
        </button>
      )}
      {delivery.last_error !== undefined && delivery.consecutive_failures > 0 && (
        <p className="bad">{delivery.last_error}</p>
      )}
      <Confirm
        title={`Delete ${name}?`}
        text="Events that wait for it are not delivered any more."
        action="Delete"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutateAsync()}
      />
    </li>
  )
}

function CreateDestination({ onClose }: { onClose: () => void }) {
  const ask = useAsk()
  const [name, setName] = useState('')
  const [endpoint, setEndpoint] = useState('')
  const [about, setAbout] = useState('')
  const [rows, setRows] = useState<readonly ValueRow[]>(() => [newRow('Authorization')])
  const create = useAct({
    run: (signal: AbortSignal) =>
      ask(PATH, {
        method: 'POST',
        signal,
        body: {
          name: name.trim(),
          endpoint: endpoint.trim(),
          headers: valuesOf(rows.filter(({ value }) => value !== '')),
          ...(filled(about) !== undefined && { description: about.trim() }),
        },
      }),
    done: 'The destination is added',
    changes: ['telemetry_destination'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Add a telemetry destination"
      text="A session exports to it when its telemetry names it."
      action="Add"
      onClose={onClose}
      onSend={async (signal) => {
        await create.mutateAsync(signal)
        onClose()
      }}
    >
      <TextField name="name" label="Name" autoFocus value={name} onChange={setName} />
      <TextField
        name="endpoint"
        label="Address of the collector"
        hint="OTLP over HTTP; /v1/logs is added"
        placeholder="https://otlp.example.com"
        value={endpoint}
        onChange={setEndpoint}
      />
      <ValueRows label="Headers" name="headers" rows={rows} onChange={setRows} />
      <TextField name="description" label="Description" isOptional value={about} onChange={setAbout} />
    </FormDialog>
  )
}
